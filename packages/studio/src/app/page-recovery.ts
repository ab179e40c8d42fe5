import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { TextStorage } from "../session/safe-storage.ts";

/** Stands in the storage of the tab from a reload until the code of a page has been loaded. */
const reloadedKey = "stepfold.reloaded";
const [minPauseMs, maxPauseMs] = [1_000, 10_000];

const notLoaded = new WeakSet<object>();

/** True if this is the error of code that could not be loaded, and not one of the code itself. */
export function isNotLoaded(error: unknown): boolean {
  return typeof error === "object" && error !== null && notLoaded.has(error);
}

/**
 * A component whose code is loaded when it is shown.
 *
 * @param tab the storage of the tab
 */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>, tab: TextStorage): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    try {
      const loaded = await load();
      tab.removeItem(reloadedKey);
      return { default: loaded };
    } catch (error) {
      if (typeof error === "object" && error !== null) notLoaded.add(error);
      throw error;
    }
  });
}

/** What a recovery needs of its surroundings. */
export interface RecoverySurroundings {
  readonly tab: TextStorage;
  /** The storage lasts over a reload. Otherwise nobody would know that the page has been loaded again already. */
  readonly isKept: boolean;
  /** Asks the server anything. It is rejected if there is no answer. */
  ask(): Promise<unknown>;
  /** Loads the page again. */
  reload(): void;
  /** Calls back after a time; the function that it returns prevents that. */
  schedule(call: () => void, delayMs: number): () => void;
}

/**
 * Loads the page again as soon as the server answers, once for each time at which it did not: if the page has been loaded again already, the
 * server must have been away since. So a page that cannot be loaded at all is not loaded again and again.
 *
 * @returns what ends it
 */
export function recoverPage({ tab, isKept, ask, reload, schedule }: RecoverySurroundings): () => void {
  let isOver = false;
  let mayReload = isKept && tab.getItem(reloadedKey) === null;
  let cancel: () => void = () => undefined;
  const look = async (pauseMs: number): Promise<void> => {
    const answers = await ask().then(
      () => true,
      () => false,
    );
    if (isOver) return;
    if (answers && mayReload) {
      tab.setItem(reloadedKey, "1");
      reload();
      return;
    }
    mayReload ||= !answers;
    cancel = schedule(() => void look(Math.min(maxPauseMs, 2 * pauseMs)), pauseMs);
  };
  void look(minPauseMs);
  return () => {
    isOver = true;
    cancel();
  };
}
