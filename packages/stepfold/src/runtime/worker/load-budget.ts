import type { Environment } from "../../ports/environment.ts";
import type { TimedClaim } from "../context/timed-claim.ts";

/** Room for one snapshot in the memory of this process. */
export interface Room {
  /** Changes the size of the room, because the snapshot has grown or shrunk. */
  resize(bytes: number): void;
  /** Safe to call twice. */
  free(): void;
}

/** A claimed execution, with room for its snapshot if the room was taken together with the claim. */
export interface ClaimedExecution extends TimedClaim {
  readonly room?: Room;
}

/** A request for room that waits. */
interface Waiting {
  readonly bytes: number;
  resolve(room: Room | null): void;
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
  /** The number of snapshots that are held. */
  #held = 0;

  constructor(maxBytes: number, environment: Environment) {
    this.#maxBytes = maxBytes;
    this.#environment = environment;
  }

  /** True if no more executions should be claimed: claimed executions wait for room already, or no room is left. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || this.#heldBytes >= this.#maxBytes;
  }

  /** Takes room for a snapshot that this process holds already. */
  take(bytes: number): Room {
    let taken = bytes;
    let isTaken = true;
    this.#heldBytes += bytes;
    this.#held++;
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
        this.#held--;
        this.#admit();
      },
    };
  }

  /** Takes room if there is enough now and no other request waits; null otherwise. */
  tryTake(bytes: number): Room | null {
    return this.#waiting.length === 0 && this.#fits(bytes) ? this.take(bytes) : null;
  }

  /** Waits for room, after the requests that wait already. Null if there is no room in time. */
  takeWithin(bytes: number, timeoutMs: number): Promise<Room | null> {
    const room = this.tryTake(bytes);
    if (room) return Promise.resolve(room);
    return new Promise((resolve) => {
      const entry: Waiting = {
        bytes,
        resolve: (room) => {
          cancel();
          resolve(room);
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
    return this.#held === 0 || this.#heldBytes + bytes <= this.#maxBytes;
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes, resolve } = this.#waiting.shift()!;
      resolve(this.take(bytes));
    }
  }
}
