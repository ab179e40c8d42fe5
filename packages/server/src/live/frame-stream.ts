import type { Environment } from "stepfold";
import type { ServerFrame } from "stepfold/client";

/** A comment this often shows the client, and proxies, that the connection lives. */
const beatMs = 15_000;
/** A client that has this many bytes of frames outstanding is cut off. It comes back and goes on behind the last frame that it got. */
const maxUnsentBytes = 1024 * 1024;
/** So many bytes may be outstanding before a sender that can wait has to. */
const highWaterMark = 64 * 1024;

/** Frames on their way to one client, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export class FrameStream {
  /** The body of the response. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #ends = new Set<() => void>();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Those who wait until the client has taken enough. */
  #waiting: (() => void)[] = [];

  constructor(environment: Environment) {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#resume(),
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    );
    // the first bytes tell the client at once that the stream lives
    this.#write("retry: 1000\n\n");
    this.#beat(environment);
  }

  get isClosed(): boolean {
    return this.#controller === null;
  }

  /** Sends a frame. @param id the position after it, at which the client goes on after a reconnection */
  send(frame: ServerFrame, id?: string): void {
    const { type, ...data } = frame;
    this.#write(`event: ${type}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  }

  /** Resolves once the client has taken enough of what was sent, or the stream has ended. */
  async ready(): Promise<void> {
    while (this.#controller && (this.#controller.desiredSize ?? 0) <= 0)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
  }

  /** Calls `end` when the server or the client ends the stream; at once if it has ended already. */
  onEnd(end: () => void): void {
    if (this.isClosed) end();
    else this.#ends.add(end);
  }

  close(): void {
    const controller = this.#controller;
    if (!controller) return;
    this.#controller = null;
    this.#resume();
    for (const end of this.#ends) end();
    try {
      controller.close();
    } catch {
      // the client had gone
    }
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  #write(text: string): void {
    if (!this.#controller) return;
    if ((this.#controller.desiredSize ?? 0) < -maxUnsentBytes) this.close();
    else this.#controller.enqueue(this.#encoder.encode(text));
  }

  #beat(environment: Environment): void {
    const next = (): (() => void) =>
      environment.after(
        beatMs,
        () => {
          this.#write(": beat\n\n");
          stop = next();
        },
        { background: true },
      );
    let stop = next();
    this.onEnd(() => stop());
  }
}
