import type { PositionedFrame, StreamOptions } from "./client.ts";
import type { ClientTime } from "./client-time.ts";
import { EventParser, type StreamPosition } from "./event-parser.ts";
import { FollowedExecutions } from "./followed-executions.ts";
import { abortablePause, onAbort } from "./on-abort.ts";
import { queryText } from "./query-text.ts";
import { answerText, chunksOf, objectOf } from "./read-answer.ts";
import { connectionLost, isTransient, RequestError, unexpectedAnswer } from "./request-error.ts";
import type { RequestSender } from "./send-request.ts";
import type { StreamQuery } from "./wire/frames.ts";

/** A connection of which nothing comes for this time is dead: a server sends at least a comment every 15 seconds. */
const maxSilenceMs = 40_000;
/** The bounds of the pause before the next connection. The server may ask for a longer first pause by `retry`. */
const minPauseMs = 1_000;
const maxPauseMs = 15_000;
/** The longest time of a header `retry-after` that is respected. */
const maxRetryAfterMs = 300_000;

/** What a stream needs of its client. */
export interface StreamSource {
  readonly send: RequestSender;
  readonly time: ClientTime;
}

/** The frames of a stream, over as many connections as it takes. The first request begins when the first frame is asked for. */
export function followStream(
  source: StreamSource,
  query: StreamQuery,
  options: StreamOptions = {},
): AsyncGenerator<PositionedFrame, void, undefined> {
  const stop = new AbortController();
  const frames = framesUntil(stop, source, query, options);
  // by itself, `return` waits for the call of `next` that is under way, which may take hours
  const end = frames.return.bind(frames);
  frames.return = (value) => {
    stop.abort();
    return end(value);
  };
  return frames;
}

async function* framesUntil(
  stop: AbortController,
  source: StreamSource,
  { executions = [], list, view }: StreamQuery,
  { after = "", signal }: StreamOptions,
): AsyncGenerator<PositionedFrame, void, undefined> {
  const path = `/stream${queryText({ ...list, list: list && 1, executions, view })}`;
  const followed = new FollowedExecutions(executions);
  let position: StreamPosition = { lastId: after, retryMs: minPauseMs };
  /** The number of connections since the last one that has brought a frame. */
  let failures = 0;
  const release = onAbort(signal, () => stop.abort());
  try {
    while (!stop.signal.aborted) {
      const parser = new EventParser(position);
      position = parser;
      try {
        for await (const frame of framesOfConnection(path, parser, source, stop.signal)) {
          if (frame.type !== "link") failures = 0;
          if (followed.take(frame)) yield frame;
          if (stop.signal.aborted || (followed.areAllEnded && !list)) return;
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof RequestError && isTransient(error.status))) throw error;
        const againInMs = pauseMs(error, position, failures++, source.time);
        // the time runs while the consumer looks at the frame
        const paused = abortablePause(againInMs, stop.signal, source.time);
        yield { type: "link", isLive: false, againInMs, code: error.code };
        await paused;
      }
    }
  } finally {
    release();
    stop.abort();
  }
}

/**
 * The frames of one connection. It does not return by itself.
 * @throws RequestError `CONNECTION_LOST` at its end, also if nothing came for too long; the reason of a refusal
 */
async function* framesOfConnection(
  path: string,
  parser: EventParser,
  { send, time }: StreamSource,
  stop: AbortSignal,
): AsyncGenerator<PositionedFrame, void, undefined> {
  const connection = new AbortController();
  const { signal } = connection;
  const release = onAbort(stop, () => connection.abort());
  const unlessSilent = async <T>(work: Promise<T>): Promise<T> => {
    const stopTimer = time.after(maxSilenceMs, () => connection.abort(connectionLost()));
    try {
      return await work;
    } finally {
      stopTimer();
    }
  };
  try {
    const response = await unlessSilent(openStream(path, parser, send, signal));
    yield { type: "link", isLive: true };
    const chunks = chunksOf(response, signal);
    for (;;) {
      // no timer runs while the consumer looks at a frame: what comes meanwhile has not been read yet
      const { done, value } = await unlessSilent(chunks.next());
      if (done) throw connectionLost();
      for (const { type, data, id } of parser.push(value)) {
        yield { type, ...objectOf(data, response.status), ...(id && { id }) } as PositionedFrame;
      }
    }
  } finally {
    release();
    connection.abort();
  }
}

async function openStream(path: string, { lastId }: StreamPosition, send: RequestSender, signal: AbortSignal): Promise<Response> {
  const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
  const response = await send({ path, headers, signal });
  if (/^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")) return response;
  throw unexpectedAnswer(response.status, await answerText(response, signal));
}

/**
 * How long to wait before the next connection: 1 s or what the server has said by `retry`, then twice as long after each failure, at most 15 s.
 * Of this time, a random part between half and all: clients that have lost their server at the same time do not all come back at the same time.
 * If the server says `retry-after`, all of this begins after that time.
 */
function pauseMs({ retryAfterMs = 0 }: RequestError, { retryMs }: StreamPosition, failures: number, time: ClientTime): number {
  const fullMs = Math.min(maxPauseMs, Math.max(minPauseMs, retryMs) * 2 ** failures);
  return Math.min(maxRetryAfterMs, retryAfterMs) + Math.round(fullMs * (0.5 + time.random() / 2));
}
