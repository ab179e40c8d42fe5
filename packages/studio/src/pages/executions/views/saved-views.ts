import type { TextStorage } from "../../../session/safe-storage.ts";
import { noFilters, searchOf } from "../filters/filters.ts";

/** A name for filters: the query of an address. */
export interface ListView {
  readonly name: string;
  readonly search: string;
}

/** The views that everybody has. */
export const givenViews: readonly ListView[] = [
  { name: "All", search: "" },
  { name: "Needs somebody", search: searchOf({ ...noFilters, waiting: "external" }) },
  { name: "Failed today", search: searchOf({ ...noFilters, status: ["failed"], created: "today" }) },
];

const storageKey = "stepfold.views";
const [maxViews, maxNameLength] = [30, 60];

/** The views that were saved in this browser. */
export class SavedViews {
  readonly #storage: TextStorage;
  readonly #listeners = new Set<() => void>();
  #views: readonly ListView[];

  constructor(storage: TextStorage) {
    this.#storage = storage;
    this.#views = readViews(storage);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getViews = (): readonly ListView[] => this.#views;

  /** Saves a view. One with the same name is replaced. */
  readonly save = (name: string, search: string): void => {
    const view = { name: name.trim().slice(0, maxNameLength), search };
    if (view.name !== "") this.#set([...this.#views.filter((other) => other.name !== view.name), view].slice(-maxViews));
  };

  readonly remove = (name: string): void => this.#set(this.#views.filter((view) => view.name !== name));

  #set(views: readonly ListView[]): void {
    this.#views = views;
    this.#storage.setItem(storageKey, JSON.stringify(views));
    for (const listener of this.#listeners) listener();
  }
}

function readViews(storage: TextStorage): readonly ListView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, maxViews) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is ListView {
  if (typeof value !== "object" || value === null) return false;
  const { name, search } = value as Partial<Record<keyof ListView, unknown>>;
  return typeof name === "string" && name !== "" && typeof search === "string" && (search === "" || search.startsWith("?"));
}
