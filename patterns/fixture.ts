import { readdirSync, readFileSync } from "node:fs";
import type { Net } from "./petri-net.ts";

/** A JSON value. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** One of the 43 control-flow patterns: a workflow, the events that are sent to it, and the net that judges its behaviour. */
export interface Fixture {
  /** Its number in the catalogue, 1 to 43. */
  readonly pattern: number;
  readonly name: string;
  /** The part of the workflow that implements the pattern. */
  readonly construct: string;
  /** The demands of the pattern, and how the net checks them. */
  readonly description: string;
  readonly workflow: Workflow;
  readonly input: Value;
  /** The events from outside. */
  readonly script: readonly ScriptStep[];
  readonly net: Net;
  /** Traces that the net accepts, as `parseTrace` reads them. */
  readonly allowed: readonly string[];
  /** Whole traces of wrong behaviour, which the net rejects. */
  readonly forbidden: readonly string[];
  /**
   * Each witness has labels, separated by spaces, that some run must show in this order, with others between them. It proves that this
   * behaviour is possible.
   */
  readonly witnesses?: readonly string[];
}

/** The workflow that is run. */
export interface Workflow {
  readonly id: string;
  readonly start?: string;
  readonly nodes: readonly WorkflowNode[];
  readonly edges: readonly WorkflowEdge[];
  readonly workflows?: Readonly<Record<string, Workflow>>;
}

/** One node of a fixture's graph. */
export interface WorkflowNode {
  readonly id: string;
  readonly type: string;
  readonly data?: Value;
  readonly join?: "each" | "all" | number;
  readonly late?: "ignore" | "cancel" | "block";
  readonly cancels?: readonly string[];
  readonly mutex?: string;
  readonly when?: string;
  readonly compensate?: { readonly type: string };
}

/** One edge of a fixture's graph. */
export interface WorkflowEdge {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string;
}

/** An event from outside. It is sent at most once, at any moment after all labels of `after` were seen. */
export interface ScriptStep {
  /** The name of the step. The trace shows it as `!label` if the execution accepts the step. */
  readonly label: string;
  /** The labels that have to be seen before the step is sent. Default: none. */
  readonly after?: readonly string[];
  readonly send?: Command;
  /** The milliseconds that pass. Used instead of `send`. */
  readonly advanceMs?: number;
}

/** The commands that a script can send. */
export type Command =
  | { readonly type: "resume"; readonly target: { readonly node: string }; readonly payload: Value }
  | { readonly type: "signal"; readonly name: string; readonly key?: string; readonly payload: Value }
  | { readonly type: "cancel"; readonly target?: { readonly node: string } }
  | { readonly type: "addItem"; readonly node: string; readonly item: Value }
  | { readonly type: "closeMap" | "completeMap"; readonly node: string };

/** A fixture and the name of its file. */
export interface FixtureFile {
  readonly file: string;
  readonly fixture: Fixture;
}

const folder = new URL("fixtures/", import.meta.url);

/** Reads all fixtures, ordered by file name. `fixtures.test.ts` checks that they are well-formed. */
export function readFixtures(): FixtureFile[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => ({ file, fixture: JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Fixture }));
}
