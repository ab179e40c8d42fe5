/** What was found, and whether nothing more was there. */
interface Found<T> {
  readonly found: readonly T[];
  readonly isAll: boolean;
}

/** Lets those who look in the same place do so one after the other: together they would only be in each other's way. */
export interface Turnstile {
  /** Whoever came before one began to look who then found nothing more need not look again, unless they look for other things. */
  pass<T>(place: string, overdueMs: number | null, look: () => Promise<Found<T>>): Promise<readonly T[]>;
}

/** Most places of which is remembered that they were empty. */
const mostPlaces = 1_000;

/** A turnstile for a handle. */
export function turnstile(): Turnstile {
  const last = new Map<string, Promise<void>>();
  const emptied = new Map<string, { readonly began: number; readonly overdueMs: number }>();
  let count = 0;
  return {
    async pass(place, overdueMs, look) {
      const came = ++count;
      const before = last.get(place);
      let leave = (): void => {};
      const turn = new Promise<void>((resolve) => {
        leave = resolve;
      });
      last.set(place, turn);
      await before;
      try {
        const empty = emptied.get(place);
        if (empty && overdueMs !== null && came < empty.began && empty.overdueMs <= overdueMs) return [];
        const began = ++count;
        const { found, isAll } = await look();
        if (isAll && overdueMs !== null) emptied.set(place, { began, overdueMs });
        if (emptied.size > mostPlaces) emptied.delete(emptied.keys().next().value!);
        return found;
      } finally {
        if (last.get(place) === turn) last.delete(place);
        leave();
      }
    },
  };
}
