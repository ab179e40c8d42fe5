import { nextMacrotask, systemEnvironment } from "../../environment/system-environment.ts";

/** How often the event loop runs without a call that begins or ends before nothing is expected to begin any more. */
const calmMacrotasks = 8;

/** The calls of a process that have begun and not ended: of its store, of executors, and of code. */
export class Activity {
  readonly #open = new Set<object>();
  #changes = 0;
  #isOver = false;
  #onChange: () => void = () => undefined;

  /** Notes that a call begins. The returned function notes that it has ended, and may be called again. */
  begin(): () => void {
    const call = {};
    this.#open.add(call);
    this.#change();
    return () => {
      if (this.#open.delete(call)) this.#change();
    };
  }

  /** Nothing counts any more. */
  end(): void {
    this.#isOver = true;
    this.#change();
  }

  /**
   * Resolves once no call is open and none begins any more.
   *
   * @param patienceMs after this many milliseconds of real time without any change, the open calls count as calls that wait for time to pass
   */
  async quiet(patienceMs: number): Promise<void> {
    for (let calm = 0, seen = this.#changes; calm < calmMacrotasks && !this.#isOver; calm++) {
      if (this.#open.size > 0) await this.#nextChange(patienceMs);
      else await nextMacrotask();
      if (seen !== this.#changes) calm = -1;
      seen = this.#changes;
    }
  }

  #nextChange(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = systemEnvironment.after(patienceMs, () => {
        this.#open.clear();
        this.#change();
      });
      this.#onChange = () => {
        stop();
        resolve();
      };
    });
  }

  #change(): void {
    this.#changes++;
    const changed = this.#onChange;
    this.#onChange = () => undefined;
    changed();
  }
}
