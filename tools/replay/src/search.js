// Finding voters by their number, estimator, feature map or hyperparameters.

import { textOf } from "./history.js";

const MOST_SHOWN = 60;

/** The voters that a text fits: those whose number it is, else those with all of its words. */
export function find(record, query) {
  const text = query.trim().toLowerCase();
  if (!text) return null;
  const number = text.match(/^(?:voter\s*)?#?(\d+)$/)?.[1];
  if (number !== undefined && Number(number) < record.nVoters) return [Number(number)];
  const words = text.split(/[\s,]+/).map((word) => word.replace(/:$/, "="));
  return record.voters.flatMap((_, voter) => {
    const own = textOf(record, voter).toLowerCase();
    return words.every((word) => own.includes(word)) ? [voter] : [];
  });
}

export class Search {
  /**
   * @param {HTMLInputElement} input
   * @param {HTMLElement} list
   */
  constructor(input, list, record, selection) {
    Object.assign(this, { input, list, record, selection, active: 0 });
    input.addEventListener("input", () => this.#search());
    input.addEventListener("focus", () => this.#search());
    input.addEventListener("blur", () => this.#close());
    input.addEventListener("keydown", (event) => this.#press(event));
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the input keeps the focus until a voter is chosen
      const item = event.target.closest("li[data-voter]");
      if (item) this.#choose(Number(item.dataset.voter));
    });
  }

  #search() {
    const found = find(this.record, this.input.value);
    this.active = 0;
    this.found = found ?? [];
    this.selection.match(found);
    this.list.hidden = found === null;
    this.input.setAttribute("aria-expanded", String(found !== null));
    this.#fill();
  }

  #fill() {
    const items = this.found.slice(0, MOST_SHOWN).map((voter, k) => this.#item(voter, k));
    if (!items.length) items.push(note("No voter fits. Try a number, an estimator or a hyperparameter."));
    if (this.found.length > MOST_SHOWN) items.push(note(`and ${this.found.length - MOST_SHOWN} more`));
    this.list.replaceChildren(...items);
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", this.found.length ? `found-${this.active}` : "");
  }

  #item(voter, k) {
    const item = document.createElement("li");
    Object.assign(item, { id: `found-${k}`, role: "option" });
    item.dataset.voter = voter;
    item.setAttribute("aria-selected", String(k === this.active));
    const name = document.createElement("b");
    name.textContent = `Voter ${voter}`;
    item.append(name, ` ${textOf(this.record, voter)}`);
    return item;
  }

  #press(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key === "Escape") this.#leave();
    else if (event.key === "Enter" && this.found.length) this.#choose(this.found[this.active]);
    else if (event.key in steps && this.found.length) {
      const shown = Math.min(this.found.length, MOST_SHOWN);
      this.active = (this.active + steps[event.key] + shown) % shown;
      this.#fill();
    } else return;
    event.preventDefault();
  }

  #choose(voter) {
    this.selection.match(null);
    this.selection.show(voter);
    this.input.blur();
  }

  #leave() {
    this.input.value = "";
    this.selection.match(null);
    this.input.blur();
  }

  #close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.selection.match(null);
  }
}

function note(text) {
  const item = document.createElement("li");
  item.className = "note";
  item.textContent = text;
  return item;
}
