/** Numbers that rise with everything that this process creates. By chance no other process has the same ones. */
export function creationNumbers(): () => number {
  const processNumber = Math.floor(Math.random() * 2 ** 20);
  let created = 0;
  return () => ++created * 2 ** 20 + processNumber;
}
