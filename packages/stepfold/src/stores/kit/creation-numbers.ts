/** Returns a function whose numbers rise with each call. They end in a random number of 20 bits, so two processes hardly ever share one. */
export function creationNumbers(): () => number {
  const processNumber = Math.floor(Math.random() * 2 ** 20);
  let created = 0;
  return () => ++created * 2 ** 20 + processNumber;
}
