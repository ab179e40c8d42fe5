import type { TextStorage } from "../../session/safe-storage.ts";

/** A key, or two keys one after the other, and what they do. */
export interface KeyBinding {
  /** As `KeyboardEvent.key` gives it: `j`, `Enter`, `?`; two with a space between: `g e`. */
  readonly keys: string;
  /** What the help says: "Next row". */
  readonly does: string;
  readonly act: () => void;
}

/** The part of a `KeyboardEvent` that decides. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** Where the key was pressed: a field, something else that Enter presses, inside something that floats over the page, or anywhere else. */
  readonly on: "field" | "control" | "overlay" | "page";
}

/** How long after the first key of two the second one counts. */
const sequenceMs = 1_500;
const storageKey = "stepfold.keys";

/** The single keys of the page. They can be switched off, because speech input and slips of the hand press them too. */
export class KeyModel {
  readonly #storage: TextStorage;
  readonly #groups: (readonly KeyBinding[])[] = [];
  readonly #listeners = new Set<() => void>();
  #first: { readonly key: string; readonly at: number } | null = null;
  #isOn: boolean;

  constructor(storage: TextStorage) {
    this.#storage = storage;
    this.#isOn = storage.getItem(storageKey) !== "off";
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isOn = (): boolean => this.#isOn;

  /** Switches the keys on or off, for this browser. */
  readonly switch = (isOn: boolean): void => {
    this.#isOn = isOn;
    this.#storage.setItem(storageKey, isOn ? "on" : "off");
    for (const listener of this.#listeners) listener();
  };

  /** Adds keys until the returned function is called. Of two bindings of the same keys the later one counts. */
  readonly add = (bindings: readonly KeyBinding[]): (() => void) => {
    this.#groups.push(bindings);
    return () => {
      this.#groups.splice(this.#groups.indexOf(bindings), 1);
    };
  };

  /** The keys that count now, for the help. */
  readonly getBindings = (): readonly KeyBinding[] => this.#groups.flat();

  /** Does what a key does. Returns true if it did something: then the browser must not do anything else. */
  readonly press = (press: KeyPress, at: number): boolean => {
    const { key, ctrlKey, metaKey, altKey, on } = press;
    const first = this.#first;
    this.#first = null;
    if (!this.#isOn || ctrlKey || metaKey || altKey || on === "field" || on === "overlay") return false;
    if (on === "control" && (key === "Enter" || key === " ")) return false;
    const both = first && at - first.at <= sequenceMs ? `${first.key} ${key}` : null;
    const bindings = this.getBindings();
    const binding = (both && bindings.findLast(({ keys }) => keys === both)) || bindings.findLast(({ keys }) => keys === key);
    if (binding) binding.act();
    else if (bindings.some(({ keys }) => keys.startsWith(`${key} `))) this.#first = { key, at };
    return binding !== undefined;
  };
}
