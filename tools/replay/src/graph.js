// Who delegates to whom, and what follows from it. A delegation is an array: voter i delegates to
// delegation[i], and represents itself if that is i.

/** The representative at the end of each voter's chain. */
export function gurusOf(delegation) {
  const gurus = Int32Array.from(delegation);
  for (let voter = 0; voter < gurus.length; voter++) {
    while (gurus[gurus[voter]] !== gurus[voter]) gurus[voter] = gurus[gurus[voter]];
  }
  return gurus;
}

/** The votes that each voter carries, zero for delegators. */
export function weightsOf(gurus) {
  const weights = new Int32Array(gurus.length);
  for (const guru of gurus) weights[guru]++;
  return weights;
}

export function representativesOf(delegation) {
  return [...delegation.keys()].filter((voter) => delegation[voter] === voter);
}

/** A voter, the one it delegates to, and so on to its representative. */
export function chainOf(delegation, voter) {
  const chain = [voter];
  while (delegation[voter] !== voter) chain.push((voter = delegation[voter]));
  return chain;
}

/** For each voter, those that delegate to it directly. */
export function delegatorsOf(delegation) {
  const delegators = Array.from(delegation, () => []);
  delegation.forEach((to, voter) => to !== voter && delegators[to].push(voter));
  return delegators;
}

/** All voters whose chains lead through a voter, itself included. */
export function followersOf(delegation, voter) {
  const delegators = delegatorsOf(delegation);
  const followers = [voter];
  for (const follower of followers) followers.push(...delegators[follower]);
  return followers;
}
