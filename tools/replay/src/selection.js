// Which voter is looked at: the one under the pointer, the pinned one, or those that were searched.

export class Selection extends EventTarget {
  hovered = null;
  pinned = null;
  /** @type {number[] | null} */
  matches = null;

  get focus() {
    return this.hovered ?? this.pinned;
  }

  hover(voter) {
    this.#change({ hovered: voter });
  }

  /** Pin a voter; again, or nobody, and none is pinned. */
  pin(voter) {
    this.#change({ pinned: voter === this.pinned ? null : voter });
  }

  show(voter) {
    this.#change({ pinned: voter, hovered: null });
  }

  match(matches) {
    this.#change({ matches });
  }

  clear() {
    this.#change({ hovered: null, pinned: null, matches: null });
  }

  #change(changes) {
    if (Object.entries(changes).every(([name, value]) => this[name] === value)) return;
    Object.assign(this, changes);
    this.dispatchEvent(new Event("change"));
  }
}
