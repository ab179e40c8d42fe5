/** Whether those that wait for their turn had to stand back in the last claim. */
export interface Rota {
  isOwed: boolean;
}

/**
 * Claims up to `limit`: first those that take turns with nobody, then those in lines. Where the first took all the room, half
 * of it goes to the others the next time, so that neither wait for ever however much there is of the other kind.
 */
export async function shareRoom<T>(
  rota: Rota,
  limit: number,
  claimPlain: (most: number) => Promise<readonly T[]>,
  claimInLines: (most: number) => Promise<readonly T[]>,
): Promise<T[]> {
  const { isOwed } = rota;
  const owed = isOwed ? await claimInLines(Math.ceil(limit / 2)) : [];
  const plain = owed.length < limit ? await claimPlain(limit - owed.length) : [];
  const room = limit - owed.length - plain.length;
  rota.isOwed = room === 0 && !isOwed;
  const rest = room > 0 ? await claimInLines(room) : [];
  return [...owed, ...plain, ...rest];
}
