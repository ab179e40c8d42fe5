/** Keeps texts by key. */
export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

/** A storage of the browser that never fails: where the browser forbids it, or it is full, the texts are kept until the page is left. */
export class SafeStorage implements TextStorage {
  readonly #open: () => TextStorage;
  readonly #memory = new Map<string, string>();

  /** @param open gives the storage: `() => sessionStorage`. It may throw, as browsers do. */
  constructor(open: () => TextStorage) {
    this.#open = open;
  }

  /** False: texts are kept only until the page is left. */
  isKept(): boolean {
    const key = "stepfold.kept";
    const kept = this.#try((storage) => {
      storage.setItem(key, "1");
      const text = storage.getItem(key);
      storage.removeItem(key);
      return text;
    });
    return kept !== null;
  }

  getItem(key: string): string | null {
    return this.#try((storage) => storage.getItem(key)) ?? this.#memory.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    this.#memory.set(key, text);
    this.#try((storage) => storage.setItem(key, text));
  }

  removeItem(key: string): void {
    this.#memory.delete(key);
    this.#try((storage) => storage.removeItem(key));
  }

  #try<T>(call: (storage: TextStorage) => T): T | null {
    try {
      return call(this.#open());
    } catch {
      return null;
    }
  }
}
