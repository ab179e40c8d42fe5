import { unexpectedAnswer } from "./request-error.ts";

/** A server-sent event. */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  /** The id of this event, or of the last one before it that had an id. Empty: there was none. */
  readonly id: string;
}

/** What a new connection needs to know of the one before it. */
export interface StreamPosition {
  /** The id of the last event that had one: the new connection goes on behind it. Empty: there was none. */
  readonly lastId: string;
  /** How long to wait before a new connection, as the server has said it. */
  readonly retryMs: number;
}

/** The most characters of an event: 16 MiB of ASCII. */
const maxEventLength = 16 * 1024 * 1024;

/**
 * Parses server-sent events as the HTML standard says. A chunk may end anywhere, also in the middle of a character. An event counts, and so does
 * its id, only once the empty line after it has come.
 */
export class EventParser implements StreamPosition {
  lastId: string;
  retryMs: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The line that has not ended yet. */
  #line = "";
  /** Is dropped if the next chunk begins with it: a byte-order mark at the beginning, or an LF whose CR has ended the last chunk. */
  #dropped = "\uFEFF";
  #type = "";
  #data: string[] = [];
  /** How many characters the lines of the event have so far. */
  #length = 0;
  #id: string;

  constructor({ lastId, retryMs }: StreamPosition) {
    this.lastId = lastId;
    this.#id = lastId;
    this.retryMs = retryMs;
  }

  /** Returns the events that end in this chunk. @throws RequestError `UNEXPECTED_ANSWER` if an event is too long */
  push(chunk: Uint8Array): readonly ServerSentEvent[] {
    const decoded = this.#decoder.decode(chunk, { stream: true });
    if (decoded === "") return [];
    const text = decoded.startsWith(this.#dropped) ? decoded.slice(this.#dropped.length) : decoded;
    this.#dropped = text.endsWith("\r") ? "\n" : "";
    const [first, ...lines] = text.split(/\r\n|\r|\n/);
    lines.unshift(this.#line + first);
    this.#line = lines.pop()!;
    const events = lines.flatMap((line) => this.#take(line));
    if (this.#length + this.#line.length > maxEventLength) throw unexpectedAnswer(200, this.#data[0] ?? this.#line);
    return events;
  }

  /** Takes a whole line. Returns the event that ends with it. */
  #take(line: string): readonly ServerSentEvent[] {
    if (line === "") return this.#end();
    this.#length += line.length + 1;
    // all other lines are comments, or fields that mean nothing
    const [, name, value = ""] = /^(data|event|id|retry)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #end(): readonly ServerSentEvent[] {
    const event = { type: this.#type || "message", data: this.#data.join("\n"), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.lastId = this.#id;
    this.#type = "";
    this.#data = [];
    this.#length = 0;
    return isEmpty ? [] : [event];
  }
}
