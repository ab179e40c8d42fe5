import type { Json, JsonObject, JsonSchema } from "../../core/values/json.ts";
import { type TimeAhead, timeFields } from "./timestamp.ts";

/** A signal that may win a race. */
export interface RaceSignal {
  readonly name: string;
  /** Only a signal with the same key counts. Default: only a signal without a key counts. */
  readonly key?: string | undefined;
  /** The handle by which the path leaves if this signal wins. Default: the signal's name. */
  readonly handle?: string | undefined;
  /** True if only a signal counts that comes while the node waits. Default: false. */
  readonly transient?: boolean | undefined;
}

/** The time that may win a race. */
export interface RaceTimer extends TimeAhead {
  /** The handle by which the path leaves if the timer wins. Default: `timer`. */
  readonly handle?: string | undefined;
}

/** An answer from outside that may win a race. */
export interface RaceAnswer {
  /** The handle by which the path leaves if the answer wins. Default: `answer`. */
  readonly handle?: string | undefined;
  /** The JSON Schema of the payload. Default: any payload. */
  readonly schema?: JsonSchema | undefined;
}

/** The data (input) of a `race` node: at least two contestants. */
export interface RaceData {
  readonly signals?: readonly RaceSignal[] | undefined;
  readonly timer?: RaceTimer | undefined;
  readonly answer?: RaceAnswer | undefined;
}

/** The contestant that won, and its payload. */
export interface RaceResult {
  /** The handle that the path left by. */
  readonly winner: string;
  /** The payload of the signal or answer; null for the timer, and if there was no payload. */
  readonly payload: Json;
}

const handle: JsonObject = { title: "Handle", description: "The handle to leave by", type: "string", minLength: 1, maxLength: 128 };
const text: JsonObject = { type: "string", minLength: 1, maxLength: 1_000 };

/** The data of a `race` node, for editors and for the check before it runs. */
export const raceSchema: JsonObject = {
  title: "Race",
  type: "object",
  properties: {
    signals: {
      title: "Signals",
      description: "Signals to wait for",
      type: "array",
      // With the timer and the answer, a race has at most 100 contestants.
      maxItems: 98,
      items: {
        type: "object",
        properties: {
          name: { title: "Name", description: "Name of the signal", ...text },
          key: { title: "Key", description: "Only a signal with the same key counts", ...text },
          handle,
          transient: { title: "Transient", description: "A signal that came before does not count", type: "boolean" },
        },
        required: ["name"],
        additionalProperties: false,
      },
    },
    timer: {
      title: "Timer",
      description: "How long to wait, or until when",
      type: "object",
      properties: { ...timeFields, handle },
      oneOf: [{ required: ["for"] }, { required: ["until"] }],
      additionalProperties: false,
    },
    answer: {
      title: "Answer",
      description: "A payload from outside",
      type: "object",
      properties: { handle, schema: { title: "Schema", description: "JSON Schema of the payload", type: ["object", "boolean"] } },
      additionalProperties: false,
    },
  },
  anyOf: [
    { properties: { signals: { minItems: 2 } }, required: ["signals"] },
    { properties: { signals: { minItems: 1 } }, required: ["signals", "timer"] },
    { properties: { signals: { minItems: 1 } }, required: ["signals", "answer"] },
    { required: ["timer", "answer"] },
  ],
  additionalProperties: false,
};
