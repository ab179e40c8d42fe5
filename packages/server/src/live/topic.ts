import { type AppendedRow, type Environment, type Json, StepfoldError } from "stepfold";
import type { CutValue } from "stepfold/client";
import type { ScopedRuntime } from "stepfold/runtime";
import type { Audience } from "../views/audience.ts";
import { briefEvent } from "../views/brief-event.ts";
import { cutValue } from "../views/cut-value.ts";
import type { FrameStream } from "./frame-stream.ts";
import type { Tail, TailEnd, TailWatcher } from "./tail.ts";
import type { Tails } from "./tails.ts";

/** After a failure of the store, an execution is looked for again after this time, twice as long each time. */
const firstAgainMs = 500;
const maxAgainMs = 5_000;

/** An execution of a stream, and how far its events were told. */
export class Topic {
  readonly execution: string;
  version = -1;
  /** The incarnation whose events were told; "": none yet. */
  incarnation = "";

  constructor(execution: string, [version, incarnation]: readonly [number, string]) {
    this.execution = execution;
    this.version = version;
    this.incarnation = incarnation;
  }

  /** How far it was told, as text that a client sends back. */
  get position(): string {
    return `${this.version}.${encodeURIComponent(this.incarnation)}`;
  }

  /** Everything that was told is void. */
  forget(): void {
    this.version = -1;
    this.incarnation = "";
  }
}

/** Reads the positions that a client sends back. What is no position begins at the beginning. */
export function positionsOf(text: string | null, count: number): readonly (readonly [number, string])[] {
  const parts = (text ?? "").slice(0, 8_000).split(",");
  return Array.from({ length: count }, (_, index) => {
    const [, version, incarnation] = /^(\d{1,15})\.([\w%.~-]{1,300})$/.exec(parts[index] ?? "") ?? [];
    return version === undefined ? ([-1, ""] as const) : ([Number(version), decoded(incarnation!)] as const);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Of an execution that holds more, events are told without their values, which can be read one by one. */
const maxWholeBytes = 4 * 1024 * 1024;

/** What is needed to follow one execution of a stream. */
export interface Following {
  readonly topic: Topic;
  readonly stream: FrameStream;
  /** The calls for the caller: an execution that is not theirs does not exist. */
  readonly runtime: Pick<ScopedRuntime, "get">;
  readonly tails: Tails;
  readonly sees: Audience;
  /** Whether events are told without their values. Null: only those of an execution that holds very much. */
  readonly isBrief: boolean | null;
  /** The positions of all executions of the stream. */
  readonly position: () => string;
  readonly environment: Environment;
}

/** Tells a stream what happens to an execution: first what it has missed, then what is new, until the stream ends. Never rejects. */
export async function followExecution(following: Following): Promise<void> {
  const { topic, stream, runtime, tails, environment } = following;
  let againMs = firstAgainMs;
  while (!stream.isClosed) {
    try {
      const { workflowId } = await runtime.get(topic.execution);
      const tail = await tails.open(workflowId);
      if (!tail) throw new StepfoldError("DEFINITION_MISSING", { workflowId, hash: "" });
      const isBrief = following.isBrief ?? tail.sizeBytes > maxWholeBytes;
      const end = await followTail({ ...following, isBrief }, tail);
      againMs = firstAgainMs;
      if (end === "replaced") await wait(environment, firstAgainMs);
      // what is gone is looked for once more, because another one may have its id
    } catch (error) {
      const code = StepfoldError.is(error) ? error.code : "INTERNAL";
      if (code === "WORKFLOW_NOT_FOUND") return stream.send({ type: "end", execution: topic.execution, reason: "gone" });
      stream.send({ type: "problem", code, execution: topic.execution });
      await wait(environment, againMs);
      againMs = Math.min(maxAgainMs, againMs * 2);
    }
  }
}

function wait(environment: Environment, ms: number): Promise<void> {
  return new Promise((resolve) => environment.after(ms, resolve, { background: true }));
}

/** Follows an open tail until it or the stream ends. */
async function followTail(following: Following, tail: Tail): Promise<TailEnd | "closed"> {
  const { topic, stream } = following;
  const isOther = topic.incarnation !== "" && topic.incarnation !== tail.incarnation;
  // a store that has fallen back to an older state has lost what was told
  if (isOther || topic.version > tail.version) reset(following, "replaced");
  topic.incarnation = tail.incarnation;
  let end: (reason: TailEnd | "closed") => void = () => undefined;
  const ended = new Promise<TailEnd | "closed">((resolve) => {
    end = resolve;
  });
  const watcher = watcherOf(following, tail, end);
  // a slow client may take long to get what it has missed: a tail that has a watcher stays for so long
  tail.watchers.add(watcher);
  stream.onEnd(() => end("closed"));
  try {
    await sendMissed(following, tail);
    watcher.goLive();
    return await ended;
  } finally {
    tail.watchers.delete(watcher);
  }
}

/** A watcher that tells nothing until what was missed has been told. */
function watcherOf(following: Following, tail: Tail, ended: (reason: TailEnd) => void): TailWatcher & { goLive(): void } {
  const { topic, stream, sees } = following;
  const { execution } = topic;
  let isLive = false;
  const head = (): void => {
    if (isLive) stream.send({ type: "head", execution, view: tail.view(sees) });
  };
  return {
    head,
    ended,
    event(row) {
      if (isLive) sendEvent(following, row);
    },
    progress({ progress, ...frame }) {
      if (isLive) stream.send({ ...frame, execution, ...(progress !== undefined && { progress: seenProgress(progress, sees) }) });
    },
    problem: (code) => stream.send({ type: "problem", code, execution }),
    goLive() {
      isLive = true;
      head();
    },
  };
}

/** Tells the events that the client has missed. Afterwards it has all that the tail has. */
async function sendMissed(following: Following, tail: Tail): Promise<void> {
  const { topic, stream } = following;
  while (!stream.isClosed && topic.version < tail.version) {
    const rows = await tail.history.after(topic.version);
    if (rows.length === 0) throw new StepfoldError("STORE_UNAVAILABLE", { store: "history", reason: "events are missing at the moment" });
    for (const row of rows) {
      // the events of earlier runs, behind the first event, may have been trimmed: a client that has seen some of them begins anew
      if (topic.version > 0 && row.version > topic.version + 1) {
        reset(following, "trimmed");
        topic.incarnation = tail.incarnation;
        break;
      }
      sendEvent(following, row);
      // a page of large events is more than a client may have outstanding
      await stream.ready();
    }
  }
}

function sendEvent({ topic, stream, isBrief, position }: Following, { version, event }: AppendedRow): void {
  if (version <= topic.version) return;
  topic.version = version;
  stream.send({ type: "event", execution: topic.execution, event: isBrief ? briefEvent(event) : event }, position());
}

function reset({ topic, stream }: Following, reason: "replaced" | "trimmed"): void {
  topic.forget();
  stream.send({ type: "reset", execution: topic.execution, reason });
}

function seenProgress(progress: Json | CutValue, { values }: Audience): Json | CutValue {
  return values ? progress : cutValue(progress);
}
