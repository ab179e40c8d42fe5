/** Whether those that come second had to stand back in the last claim. */
export interface Rota {
  isOwed: boolean;
}

/**
 * Claims up to `limit`: first of one kind, then of another. Where the first took all the room, half of it goes to the second the
 * next time, so that neither waits for ever however much there is of the other.
 *
 * @throws what a claim rejects with, if nothing was claimed before: what was claimed is to be driven, whatever became of the rest
 */
export async function shareRoom<T>(
  rota: Rota,
  limit: number,
  claimFirst: (most: number) => Promise<readonly T[]>,
  claimSecond: (most: number) => Promise<readonly T[]>,
): Promise<T[]> {
  const { isOwed } = rota;
  const claimed: T[] = [];
  try {
    if (isOwed) claimed.push(...(await claimSecond(Math.ceil(limit / 2))));
    if (claimed.length < limit) claimed.push(...(await claimFirst(limit - claimed.length)));
    rota.isOwed = claimed.length >= limit && !isOwed;
    if (claimed.length < limit) claimed.push(...(await claimSecond(limit - claimed.length)));
  } catch (error) {
    if (claimed.length === 0) throw error;
  }
  return claimed;
}
