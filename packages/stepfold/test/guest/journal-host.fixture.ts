import type { Guest } from "../../src/guest/create-guest.ts";
import type { GuestEnd, GuestHost, GuestMessage, GuestPause, GuestResult, GuestStart, GuestStep } from "../../src/guest/host.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { viaJson } from "../engine/engine.fixture.ts";

/** The error by which a host ends a handler whose process is killed. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** A command that a script sends to an execution, with its time in milliseconds since the beginning. */
export interface Told {
  readonly atMs: number;
  readonly command: GuestMessage["command"];
}

/** The faults that a `JournalHost` or a `TriggerPlatform` adds to its work. */
export interface Misfortune {
  /** The numbers of the points at which the process is killed, counted over all of its lives. */
  readonly killsAt?: ReadonlySet<number>;
  /** Every step is performed twice, and every message comes twice. */
  readonly doubles?: boolean;
}

interface Entry {
  /** The request as JSON. A replay must make the same request. */
  readonly request: string;
  readonly result: unknown;
}

const startAt = Date.UTC(2026, 0, 1);

/**
 * A host in memory with a journal, a mailbox and a clock. After each kill it replays its handler from the start. It refuses a replay whose
 * requests differ from the journal, and it passes all values through JSON.
 */
export class JournalHost implements GuestHost {
  readonly clock: VirtualEnvironment = virtualEnvironment(startAt);
  readonly journal = new Map<string, Entry>();
  /** The number of points so far at which the process could be killed. */
  points = 0;
  /** The number of kills so far. */
  kills = 0;
  /** The number of steps and waits that were under way when a process was killed, and so are not in the journal. */
  lost = 0;
  #perform: Guest["perform"] | null = null;
  /** The number of kills. A call of an earlier life never ends, so that a dead process writes nothing to the journal. */
  #life = 0;
  /** The number of steps and waits that are under way. */
  #inFlight = 0;
  readonly #mailbox: GuestMessage[];
  readonly #misfortune: Misfortune;

  constructor(script: readonly Told[] = [], misfortune: Misfortune = {}) {
    this.#misfortune = misfortune;
    const messages = script.map(({ atMs, command }, i): GuestMessage => ({ id: `message-${i}`, at: startAt + atMs, command }));
    this.#mailbox = misfortune.doubles ? messages.flatMap((message) => [message, message]) : messages;
  }

  /** Runs an execution to its end, and begins a new life of the handler after each kill. */
  async run(guestOf: (clock: VirtualEnvironment) => Guest, start: GuestStart): Promise<GuestEnd> {
    for (;;) {
      const guest = guestOf(this.clock);
      this.#perform = (step) => guest.perform(step);
      this.#inFlight = 0;
      try {
        return viaJson(await guest.run(this, viaJson(start)));
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.kills++;
      }
    }
  }

  async perform(steps: readonly GuestStep[]): Promise<readonly GuestResult[]> {
    const life = this.#life;
    return Promise.all(steps.map((step) => this.#journaled(life, step.name, step, () => this.#performed(step))));
  }

  async wait(until: number | null, { name }: GuestPause): Promise<GuestMessage | null> {
    return this.#journaled(this.#life, name, { until }, () => this.#next(until));
  }

  async #performed(step: GuestStep): Promise<GuestResult> {
    const perform = this.#perform!;
    const once = (): Promise<GuestResult> => this.#overTime(perform(viaJson(step)));
    if (!this.#misfortune.doubles) return once();
    const [first] = await Promise.all([once(), once()]);
    return first;
  }

  /** Moves the clock until a step has ended, because nothing else moves the clock while a step runs. */
  async #overTime<T>(working: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    working.then(end, end);
    await this.clock.settle();
    while (!isOver) await this.clock.advance(10);
    return working;
  }

  async #next(until: number | null): Promise<GuestMessage | null> {
    const taken = [...this.journal.values()].filter(
      ({ result }) => typeof result === "object" && result !== null && "command" in result,
    ).length;
    const message = this.#mailbox[taken];
    if (message && (until === null || message.at <= until)) {
      await this.clock.advance(Math.max(0, message.at - this.clock.now()));
      return message;
    }
    if (until === null)
      throw new Error(`The execution waits for a message, and none is left, after ${[...this.journal.keys()].join(", ")}`);
    await this.clock.advance(Math.max(0, until - this.clock.now()));
    return null;
  }

  async #journaled<T>(life: number, name: string, request: unknown, work: () => Promise<T>): Promise<T> {
    if (life !== this.#life) return never();
    const asked = JSON.stringify(request);
    const known = this.journal.get(name);
    if (known) {
      if (known.request !== asked) throw new Error(`The replay asks for another "${name}": ${asked}, not ${known.request}`);
      return viaJson(known.result) as T;
    }
    this.#inFlight++;
    this.#mayDie();
    const result = await work();
    if (life !== this.#life) return never();
    this.#mayDie();
    this.journal.set(name, { request: asked, result: viaJson(result) });
    this.#inFlight--;
    this.#mayDie();
    return viaJson(result);
  }

  #mayDie(): void {
    const point = this.points++;
    if (!this.#misfortune.killsAt?.has(point)) return;
    this.#life++;
    this.lost += this.#inFlight;
    throw new Killed();
  }
}

/** The result of a call in a dead process: it never comes. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
