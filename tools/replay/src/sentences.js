// What happened, in words.

const number = new Intl.NumberFormat("en-US");
export const count = (value) => number.format(Math.round(value));
const many = (value, one, more) => `${count(value)} ${value === 1 ? one : more}`;
const voters = (value) => many(value, "voter", "voters");
const representatives = (value) => many(value, "representative", "representatives");

/** The name of a stop: "Increment 2 of 3". */
export function nameOf(record, stop) {
  if (stop.type === "start") return stop.increment ? `After increment ${count(stop.increment)}` : "Start";
  if (stop.type === "fit") return "Final fit";
  const { since, increment } = stop;
  const numbers = since < increment ? `s ${count(since)}–${count(increment)}` : ` ${count(increment)}`;
  return `Increment${numbers} of ${count(record.nIncrements)}`;
}

/** The same, short. */
export function shortNameOf(stop) {
  if (stop.type === "start") return stop.increment ? `after increment ${count(stop.increment)}` : "at the start";
  return stop.type === "fit" ? "at the final fit" : `increment ${count(stop.increment)}`;
}

/** What happened on the way to a stop. */
export function sentenceOf(record, place) {
  const stop = record.stops[place];
  const n = record.nVoters;
  if (stop.type === "start") return startSentence(record, stop);
  if (stop.type === "fit") {
    const left = stop.representatives.length;
    const who = left === 1 ? "The representative is" : `The ${count(left)} representatives are`;
    return `${who} refitted on all rows, and ${left === 1 ? "carries" : "carry"} the votes of all ${voters(n)}.`;
  }
  return incrementSentence(stop, record.stops[place - 1], n);
}

function startSentence(record, stop) {
  const left = stop.representatives.length;
  if (left < record.nVoters) return `${representatives(left)} carry the votes of ${voters(record.nVoters)}.`;
  return record.nVoters === 1
    ? "The only voter represents itself."
    : `Each of the ${voters(left)} represents itself and carries one vote.`;
}

function incrementSentence(stop, before, n) {
  const { delegated, returned } = changesOf(stop);
  const parts = [];
  if (returned.length) parts.push(returnSentence(returned));
  if (delegated.length) parts.push(delegationSentence(delegated, before, n));
  if (!parts.length) parts.push(quietSentence(stop));
  const left = stop.representatives.length;
  if (delegated.length + returned.length) parts.push(left === 1 ? "1 representative is left" : `${representatives(left)} are left`);
  return `${parts.join("; ")}.`.replace(/^./, (letter) => letter.toUpperCase());
}

/** Who delegated and who took its vote back on the way to a stop. */
export function changesOf({ moves, delegation }) {
  const moved = [...new Set(moves.map(({ voter }) => voter))];
  return {
    delegated: moved.filter((voter) => delegation[voter] !== voter),
    returned: moved.filter((voter) => delegation[voter] === voter),
  };
}

function returnSentence(returned) {
  if (returned.length === 1) return `voter ${returned[0]} takes its vote back`;
  return `${voters(returned.length)} take their votes back`;
}

function delegationSentence(delegated, before, n) {
  const candidates = before.representatives.length;
  const who = candidates === n ? "voters" : "representatives";
  const verb = delegated.length === 1 ? "delegates" : "delegate";
  return `${count(delegated.length)} of ${count(candidates)} ${who} ${verb}`;
}

function quietSentence({ nTrained, nRows, since, increment }) {
  if (!nTrained) return "nobody delegates";
  const rows = since === increment ? ` on ${many(nRows, "row", "rows")}` : "";
  return `${many(nTrained, "voter trains", "voters train")}${rows}; nobody delegates`;
}

/** A single move, of a voter that carries some votes. */
export function moveSentence({ voter, to }, nVotes) {
  const votes = nVotes > 1 ? ` with ${count(nVotes)} votes` : "";
  return voter === to ? `Voter ${voter} takes its vote back.` : `Voter ${voter} delegates to voter ${to}${votes}.`;
}

/** A competence or an accuracy. */
export function decimal(value, digits = 3) {
  return value === null || Number.isNaN(value) ? "–" : value.toFixed(digits).replace("-", "−");
}

/** The facts about the whole training. */
export function factsOf(record) {
  const last = record.stops[record.stops.length - 1];
  const facts = [
    voters(record.nVoters),
    many(record.nIncrements, "increment", "increments"),
    `${representatives(last.representatives.length)} left`,
  ];
  if (record.nShown < record.nKept) facts.push(`${count(record.nShown)} of ${count(record.nKept)} increments are shown`);
  if (record.nKept < record.nIncrements) facts.push(`the record keeps the last ${count(record.nKept)}`);
  if (record.stopped) facts.push(record.stopped);
  return facts.join(" · ");
}
