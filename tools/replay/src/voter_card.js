// The card of a voter: what it is, who represents it, and its history.

import { element } from "./charts.js";
import { chainOf } from "./graph.js";
import { competenceOf, historyOf } from "./history.js";
import { markSvg } from "./marks.js";
import { count, decimal } from "./sentences.js";

const [WIDTH, HEIGHT, SIDE] = [248, 44, 4];

const EVENTS = {
  returns: () => ["takes its vote back"],
  delegates: ([to]) => ["delegates to ", voterButton(to)],
  receives: (others) => [...listed(others), others.length > 1 ? " delegate to it" : " delegates to it"],
};

export class VoterCard {
  /** @param {HTMLElement} card */
  constructor(card, record, selection, onSeek) {
    Object.assign(this, { card, record, selection, onSeek, shown: null });
    card.addEventListener("click", (event) => this.#click(event.target.closest("button")));
  }

  #click(button) {
    if (!button) return;
    if (button.dataset.voter) this.selection.show(Number(button.dataset.voter));
    else if (button.dataset.stop) this.onSeek(Number(button.dataset.stop));
    else this.selection.clear();
  }

  /** Show the voter that is looked at, at a time. */
  show(target, palette, sidesOf) {
    const { focus, pinned } = this.selection;
    this.card.hidden = focus === null;
    if (focus === null) {
      this.shown = null;
      return;
    }
    const isPinned = pinned === focus;
    const key = `${focus} ${isPinned} ${palette.background}`;
    if (key !== this.shown) {
      this.#fill(focus, isPinned, palette);
      const { isRight, isLow } = sidesOf(focus);
      this.card.classList.toggle("left", isRight);
      this.card.classList.toggle("high", isLow);
    }
    this.shown = key;
    this.#update(focus, target);
  }

  #fill(voter, isPinned, palette) {
    const { estimator, featureMap, hyperparameters } = this.record.voters[voter];
    const facts = [...(featureMap ? [["feature map", featureMap]] : []), ...hyperparameters];
    this.card.classList.toggle("pinned", isPinned);
    this.card.innerHTML = `
      <header>${markSvg(this.record.marks[estimator], palette.estimator(estimator), 18)}<h3>Voter ${voter}</h3><span class="estimator"></span>
        <button class="close" aria-label="Close the card of voter ${voter}">×</button></header>
      <p class="status"></p>
      <p class="chain" aria-label="Chain to its representative"></p>
      <dl></dl>
      <div class="spark"></div>
      <ol class="history"></ol>
      <p class="hint">Click the voter to pin this card.</p>`;
    this.card.querySelector(".estimator").textContent = this.record.estimators[estimator];
    this.card.querySelector("dl").append(...facts.flatMap(([name, value]) => [node("dt", name), node("dd", value)]));
    this.cursor = null;
    this.card.querySelector(".spark").append(...this.#spark(voter));
    this.card.querySelector(".history").append(...this.#history(voter));
  }

  #history(voter) {
    return historyOf(this.record, voter).map(({ stop, when, type, others }) => {
      const item = document.createElement("li");
      const time = node("button", when);
      item.dataset.stop = time.dataset.stop = stop;
      item.append(time, ": ", ...EVENTS[type](others));
      return item;
    });
  }

  #spark(voter) {
    const values = competenceOf(this.record, voter);
    const known = values.filter((value) => value !== null);
    const text = (value) => decimal(value, this.record.competenceDigits);
    if (known.length < 2) return known.map((value) => node("small", `Competence ${text(value)}`));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const x = (stop) => SIDE + ((WIDTH - 2 * SIDE) * stop) / (values.length - 1);
    const y = (value) => (high === low ? HEIGHT / 2 : HEIGHT - SIDE - ((HEIGHT - 2 * SIDE) * (value - low)) / (high - low));
    const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Competence over increments" });
    const points = values.flatMap((value, stop) => (value === null ? [] : [[x(stop), y(value)]]));
    svg.append(element("polyline", { points: points.map((point) => point.map((p) => p.toFixed(1))).join(" "), class: "line b" }));
    if (points.length < 30) svg.append(...points.map(([cx, cy]) => element("circle", { cx, cy, r: 2.2, class: "b" })));
    this.cursor = element("line", { y1: 0, y2: HEIGHT, class: "cursor" });
    svg.append(this.cursor);
    this.x = x;
    return [node("small", `Competence ${text(low)} to ${text(high)}`), svg];
  }

  /** Bring up to date what depends on the time. */
  #update(voter, { state, time }) {
    const chain = chainOf(state.delegation, voter);
    const status = this.card.querySelector(".status");
    const weight = state.weights[voter];
    const text = weight
      ? `Representative, carries ${count(weight)} ${weight === 1 ? "vote" : "votes"}`
      : `Delegates to voter ${chain[1]}${chain.length > 2 ? `, represented by voter ${chain[chain.length - 1]}` : ""}`;
    if (status.textContent !== text) {
      status.textContent = text;
      const parts = chain.flatMap((one, k) => (k ? [" → ", voterButton(one)] : [voterButton(one)]));
      this.card.querySelector(".chain").replaceChildren(...(chain.length > 1 ? parts : []));
    }
    this.cursor?.setAttribute("transform", `translate(${this.x(time).toFixed(1)},0)`);
    for (const item of this.card.querySelectorAll("li")) {
      item.classList.toggle("future", Number(item.dataset.stop) > Math.ceil(time - 1e-6));
    }
  }
}

/** "voter 1" or "voters 1, 2, 3", each a button. */
function listed([first, ...more]) {
  if (!more.length) return [voterButton(first)];
  return ["voters ", voterButton(first, ""), ...more.flatMap((voter) => [", ", voterButton(voter, "")])];
}

function voterButton(voter, name = "voter ") {
  const button = node("button", `${name}${voter}`);
  button.dataset.voter = voter;
  return button;
}

function node(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
