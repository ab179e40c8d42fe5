/**
 * Returns a function whose numbers rise with each call. Their last 20 bits are one random number, so the functions of two processes hardly
 * ever return the same.
 */
export function creationNumbers(): () => number {
  const processNumber = Math.floor(Math.random() * 2 ** 20);
  let created = 0;
  return () => ++created * 2 ** 20 + processNumber;
}
