/** A storage in memory; or one that a browser has forbidden. */
export class FakeStorage {
  readonly values = new Map<string, string>();
  readonly #isForbidden: boolean;

  constructor({ isForbidden = false }: { readonly isForbidden?: boolean } = {}) {
    this.#isForbidden = isForbidden;
  }

  getItem(key: string): string | null {
    this.#check();
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.#check();
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.#check();
    this.values.delete(key);
  }

  #check(): void {
    if (this.#isForbidden) throw new DOMException("The operation is insecure.", "SecurityError");
  }
}
