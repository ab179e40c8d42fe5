import { isJsonObject } from "../../core/values/json.ts";
import { TestFailure } from "./test-failure.ts";

/** A call of a step, as a mock gets it. */
export interface MockCall {
  /** Where the step is: `charge`, `bill/charge` in a child, `pack[3]/weigh` in an item of a map. */
  readonly address: string;
  readonly nodeId: string;
  /** The node type; for a step of code the method that asked for it, such as `run`. */
  readonly type: string;
  /** The data of the node. Null for `step.run`. */
  readonly data: unknown;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Aborted when the attempt no longer counts. */
  readonly signal: AbortSignal;
  /** The number of this call of the mock, from 1. */
  readonly call: number;
  /** Ends the process while the step is being performed, as a crash does; another one goes on at once. Return what it returns. */
  readonly crash: () => Promise<never>;
}

/** What a step gives in place of what performs it: a value, an error that it throws, or a function of the call. */
export type MockAnswer = ((call: MockCall) => unknown) | object | string | number | boolean | null | undefined;

/** Answers by name. A list gives its members to successive calls. */
export type MockTable = Readonly<Record<string, MockAnswer | readonly MockAnswer[]>>;

/** Leaves a node by a handle: what `leavesBy` makes. */
interface HandleAnswer {
  readonly "~handle": string;
  readonly data: unknown;
}

/**
 * An answer of a mock that leaves the node by a handle.
 *
 * ```ts
 * const t = await testRun(order, { mocks: { approve: leavesBy("rejected", { approved: false }) } });
 * ```
 */
export function leavesBy(handle: string, data: unknown = null): HandleAnswer {
  return { "~handle": handle, data };
}

/** One entry of the table. */
export interface Mock {
  readonly name: string;
  readonly answers: readonly MockAnswer[];
  readonly isList: boolean;
  calls: number;
}

/** The mocks of a test. */
export class Mocks {
  readonly #byName: ReadonlyMap<string, Mock>;

  constructor(table: MockTable) {
    const entries = Object.entries(table).map(([name, given]): [string, Mock] => {
      const isList = Array.isArray(given);
      return [name, { name, answers: isList ? (given as readonly MockAnswer[]) : [given], isList, calls: 0 }];
    });
    this.#byName = new Map(entries);
  }

  /** Returns the mock of a step: by its address, with and without the numbers of items, by its id, then by its type. */
  of({ address, nodeId, type }: Pick<MockCall, "address" | "nodeId" | "type">): Mock | undefined {
    for (const name of [address, address.replaceAll(/\[\d+\]/g, ""), nodeId, type]) {
      const mock = this.#byName.get(name);
      if (mock) return mock;
    }
    return undefined;
  }

  /** Says which mocks were not used, or not to their end; null if all were. @param called the names of the steps that were performed */
  unused(called: readonly string[]): string | null {
    const left = [...this.#byName.values()].flatMap(({ name, calls, answers, isList }) => {
      if (calls === 0) return `"${name}"`;
      return isList && calls < answers.length ? `"${name}" (${calls} of ${answers.length} answers)` : [];
    });
    if (left.length === 0) return null;
    const known = called.length === 0 ? "no step was performed" : `performed were: ${[...new Set(called)].join(", ")}`;
    return `No step has used the mock ${left.join(", ")}; ${known}`;
  }
}

/** Returns what a step gives that a mock answers. @throws TestFailure if the list of the mock is at its end */
export function mockedOutput(mock: Mock, call: Omit<MockCall, "call">): unknown {
  const { answers, isList, name } = mock;
  const number = ++mock.calls;
  if (isList && number > answers.length)
    throw new TestFailure(
      "MOCK_EXHAUSTED",
      `The mock "${name}" has ${answers.length} answers, and "${call.address}" was performed once more`,
    );
  const answer = isList ? answers[number - 1] : answers[0];
  if (answer instanceof Error) throw answer;
  const value: unknown = typeof answer === "function" ? answer({ ...call, call: number }) : answer;
  return value instanceof Promise ? value.then(outputOf) : outputOf(value);
}

function outputOf(value: unknown): { readonly data: unknown; readonly nextHandle?: string } {
  if (isHandleAnswer(value)) return { data: value.data, nextHandle: value["~handle"] };
  return { data: value === undefined ? null : value };
}

function isHandleAnswer(value: unknown): value is HandleAnswer {
  return isJsonObject(value) && typeof value["~handle"] === "string";
}
