import type { Environment } from "../../ports/environment.ts";
import type { TimedClaim } from "../context/timed-claim.ts";

/** Bytes that are reserved for one snapshot in the memory of this process. */
export interface Reservation {
  /** Changes the number of bytes, because the snapshot has grown or shrunk. */
  resize(bytes: number): void;
  /** Safe to call twice. */
  free(): void;
}

/** A claimed execution, with the reservation for its snapshot if that was made together with the claim. */
export interface ClaimedExecution extends TimedClaim {
  readonly reservation?: Reservation;
}

/** A request for a reservation that waits. */
interface Waiting {
  readonly bytes: number;
  resolve(reservation: Reservation | null): void;
}

/**
 * Limits the bytes of snapshots that this process holds at once. An execution is loaded only when there is room for it, so many large
 * executions that are due at the same time run one after the other, and the process does not run out of memory. An execution that is
 * larger than the whole budget runs when no other snapshot is held.
 */
export class LoadBudget {
  readonly #maxBytes: number;
  readonly #environment: Environment;
  readonly #waiting: Waiting[] = [];
  #heldBytes = 0;
  #heldSnapshots = 0;

  constructor(maxBytes: number, environment: Environment) {
    this.#maxBytes = maxBytes;
    this.#environment = environment;
  }

  /** True if no more executions should be claimed: claimed executions wait for room already, or no room is left. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || this.#heldBytes >= this.#maxBytes;
  }

  /** Reserves memory for a snapshot that this process holds already. */
  reserve(bytes: number): Reservation {
    let taken = bytes;
    let isTaken = true;
    this.#heldBytes += bytes;
    this.#heldSnapshots++;
    return {
      resize: (size) => {
        if (!isTaken) return;
        const change = size - taken;
        taken = size;
        this.#heldBytes += change;
        if (change < 0) this.#admit();
      },
      free: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#heldBytes -= taken;
        this.#heldSnapshots--;
        this.#admit();
      },
    };
  }

  /** Reserves memory if there is enough now and no other request waits; null otherwise. */
  tryReserve(bytes: number): Reservation | null {
    return this.#waiting.length === 0 && this.#fits(bytes) ? this.reserve(bytes) : null;
  }

  /** Waits for room, after the requests that wait already. Null if there is no room in time. */
  reserveWithin(bytes: number, timeoutMs: number): Promise<Reservation | null> {
    const reservation = this.tryReserve(bytes);
    if (reservation) return Promise.resolve(reservation);
    return new Promise((resolve) => {
      const entry: Waiting = {
        bytes,
        resolve: (granted) => {
          cancel();
          resolve(granted);
        },
      };
      const cancel = this.#environment.after(timeoutMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        resolve(null);
        this.#admit();
      });
      this.#waiting.push(entry);
    });
  }

  #fits(bytes: number): boolean {
    return this.#heldSnapshots === 0 || this.#heldBytes + bytes <= this.#maxBytes;
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes, resolve } = this.#waiting.shift()!;
      resolve(this.reserve(bytes));
    }
  }
}
