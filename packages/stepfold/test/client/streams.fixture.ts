import type { ClientOptions, PositionedFrame } from "../../src/client/client.ts";
import type { ClientTime } from "../../src/client/client-time.ts";
import { clientIn } from "../../src/client/create-client.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { LoopbackServer } from "./loopback-server.fixture.ts";

/** A time that stands still until a test moves it, and that knows its timers. */
export interface TestTime extends ClientTime {
  /** The result of `random`. */
  chance: number;
  /** The number of timers that were ever started. */
  readonly startedTimers: number;
  /** The number of timers that have neither fired nor been stopped. */
  readonly activeTimers: number;
  advance(ms: number): Promise<void>;
  settle(): Promise<void>;
}

/** The chance with which all pauses have their full length. */
const fullPause = 1;

function testTime(): TestTime {
  const { now, after, advance, settle } = virtualEnvironment();
  const active = new Set<symbol>();
  let startedTimers = 0;
  return {
    chance: fullPause,
    now,
    advance,
    settle,
    get startedTimers() {
      return startedTimers;
    },
    get activeTimers() {
      return active.size;
    },
    random() {
      return this.chance;
    },
    after(delayMs, callback) {
      const timer = Symbol("timer");
      active.add(timer);
      startedTimers++;
      const stop = after(delayMs, () => {
        active.delete(timer);
        callback();
      });
      return () => {
        active.delete(timer);
        stop();
      };
    },
  };
}

/** A server, and a client of it whose time stands still. */
export async function setUp(options: Partial<ClientOptions> = {}) {
  const server = await LoopbackServer.open();
  const time = testTime();
  const client = clientIn(time, { url: server.url, token: "secret", ...options });
  return { server, time, client };
}

type Frames = AsyncGenerator<PositionedFrame, void, undefined>;

/** Returns the next frame of a stream that has not ended. */
export async function nextOf(frames: Frames): Promise<PositionedFrame> {
  const { done, value } = await frames.next();
  if (done || !value) throw new Error("the stream has ended");
  return value;
}

/** Opens a stream, and reads it until it is live. */
export async function live(frames: Frames, server: LoopbackServer) {
  const link = nextOf(frames);
  const exchange = (await server.next()).openStream();
  const frame = await link;
  if (frame.type !== "link" || !frame.isLive) throw new Error(`not live: ${JSON.stringify(frame)}`);
  return exchange;
}

/** The text of an event, whose id is its version. */
export function eventText(execution: string, version: number, more: object = {}): string {
  const frame = { type: "event", execution, event: { version, type: "resumed", ...more } };
  return `id: 0:${version}\nevent: event\ndata: ${JSON.stringify(frame)}\n\n`;
}

/** The text of a frame without an id. */
export function frameText(frame: object): string {
  return `data: ${JSON.stringify(frame)}\n\n`;
}
