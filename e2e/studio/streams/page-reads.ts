import { createParser } from "eventsource-parser";
import type { BrowserContext, Page } from "playwright-core";
import type { ServerFrame } from "stepfold/client";

/**
 * Runs in the page before its own code. Whatever the page reads of the answers to its requests is also kept here: exactly the bytes that its
 * client has got, chunk by chunk, and not what was still on the way when a connection broke.
 */
const keepReads = `(() => {
  const answers = [];
  const known = new WeakMap();
  const { read } = ReadableStreamDefaultReader.prototype;
  ReadableStreamDefaultReader.prototype.read = async function () {
    const result = await read.call(this);
    if (!known.has(this)) {
      known.set(this, { decoder: new TextDecoder(), at: answers.push("") - 1 });
    }
    const { decoder, at } = known.get(this);
    if (result.value instanceof Uint8Array) answers[at] += decoder.decode(result.value, { stream: true });
    return result;
  };
  Object.defineProperty(globalThis, "answersRead", { value: answers });
})()`;

/** Keeps what all pages of a browser read from now on. */
export async function keepPageReads(context: BrowserContext): Promise<void> {
  await context.addInitScript(keepReads);
}

/** The frames that the client of a page has got, over all connections of the page. */
export async function framesRead(page: Page): Promise<ServerFrame[]> {
  const answers = (await page.evaluate("answersRead")) as readonly string[];
  const frames: ServerFrame[] = [];
  for (const text of answers) {
    // what is no stream has no events
    const parser = createParser({ onEvent: ({ event, data }) => frames.push({ type: event, ...JSON.parse(data) } as ServerFrame) });
    parser.feed(text);
  }
  return frames;
}

/** The versions of the events among frames. */
export function versionsOf(frames: readonly ServerFrame[]): number[] {
  return frames.flatMap((frame) => (frame.type === "event" ? [frame.event.version] : []));
}
