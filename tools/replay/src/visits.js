// The saving, counted up in sample visits.

import { count } from "./sentences.js";

export class Visits {
  /** @param {HTMLElement} parent */
  constructor(parent, record) {
    this.stops = record.stops;
    const last = this.stops[this.stops.length - 1];
    this.most = last.visitsOfAll;
    this.parts = Object.fromEntries(
      ["saved", "spent", "of-all", "spent-bar", "of-all-bar", "compared"].map((id) => [id, parent.querySelector(`#${id}`)]),
    );
    this.parts.compared.textContent = comparison(record);
    parent.classList.toggle("nothing", !this.most);
  }

  /** Show the visits until a time. */
  show(time) {
    if (!this.most) return;
    const stop = Math.floor(time);
    const [from, to] = [this.stops[stop], this.stops[stop + 1] ?? this.stops[stop]];
    const share = time - stop;
    const spent = from.visits + (to.visits - from.visits) * share;
    const ofAll = from.visitsOfAll + (to.visitsOfAll - from.visitsOfAll) * share;
    this.parts.spent.textContent = count(spent);
    this.parts["of-all"].textContent = count(ofAll);
    this.parts.saved.textContent = ofAll ? `${Math.round(100 * (1 - spent / ofAll))} %` : "0 %";
    this.parts["spent-bar"].style.transform = `scaleX(${ofAll ? spent / ofAll : 0})`;
    this.parts["of-all-bar"].style.transform = `scaleX(${ofAll ? 1 : 0})`;
  }
}

/** What is compared with what. */
function comparison({ stops, visitsElsewhere }) {
  const last = stops[stops.length - 1];
  if (!last.visitsOfAll) return "No voter trains here: the voters were fitted before, and are only asked for their votes.";
  const refitted = last.type === "fit" ? " and all are refitted at the end" : "";
  const elsewhere = visitsElsewhere
    ? ` ${count(visitsElsewhere)} visits before the increments shown, or to learn new classes, are not counted.`
    : "";
  return (
    `Compared with a training in which no voter delegates${refitted}. Voters that ` +
    `no longer train are counted at the mean cost of those that do.${elsewhere}`
  );
}
