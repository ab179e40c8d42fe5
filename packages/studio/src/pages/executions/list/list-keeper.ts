import type { ListModel } from "./list-model.ts";

/** A list that was left longer ago is loaded again. */
const keptMs = 5 * 60_000;

/**
 * Keeps the list that was shown last, so that whoever goes to an execution and back finds the list as it was: with its rows, at the same
 * height, at the same row.
 */
export class ListKeeper {
  /** How far the list is scrolled, in pixels. */
  scrollTop = 0;
  /** The index of the row that had the focus. -1: none. */
  cursor = -1;
  #kept: { readonly name: string; readonly model: ListModel } | null = null;
  /** When the list was left. Infinity: it is shown. */
  #leftAt = Number.POSITIVE_INFINITY;

  /** Returns the list with this name if it was shown last; otherwise makes it, and forgets the other one. */
  listOf(name: string, now: number, make: () => ListModel): ListModel {
    const isFresh = now - this.#leftAt <= keptMs;
    this.#leftAt = Number.POSITIVE_INFINITY;
    if (this.#kept?.name === name && isFresh) return this.#kept.model;
    [this.scrollTop, this.cursor] = [0, -1];
    this.#kept = { name, model: make() };
    return this.#kept.model;
  }

  /** Takes down when the list was left. */
  leave(now: number): void {
    this.#leftAt = now;
  }
}
