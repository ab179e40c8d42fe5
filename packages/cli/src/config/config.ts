import type { GlobalsOf, Limits, NodeDefinitions, Typed, WorkflowDefinition } from "stepfold";
import type { CreateScheduleOptions, EventFeed, ScheduleSpec, WorkQueue } from "stepfold/runtime";

/** The argument of a function that opens globals. */
export interface GlobalsContext {
  /**
   * Absolute path of a folder for data that should live as long as the executions: that of the SQLite file; the working directory for any
   * other database.
   */
  readonly dataFolder: string;
}

/** Globals that were opened for one command. */
export interface OpenGlobals<G = unknown> {
  readonly globals: G;
  /** Called when the command ends and no step runs any more. */
  readonly close?: (() => unknown) | undefined;
}

/** The settings of `stepfold.config.ts`. */
export interface StepfoldConfig<D extends NodeDefinitions = NodeDefinitions> {
  /** Your node types, by name. They are added to the built-in types and `http`, and replace those with the same name. */
  readonly nodeDefinitions?: D | undefined;
  /** Secrets and services for your nodes and for `{{ globals.… }}`: a value, or a function that opens them. Never stored. */
  readonly globals?:
    | GlobalsOf<D>
    | ((context: GlobalsContext) => OpenGlobals<GlobalsOf<D>> | Promise<OpenGlobals<GlobalsOf<D>>>)
    | undefined;
  /**
   * Paths into `globals` of texts that are secrets although neither their names nor their looks tell, such as `["stripe", "mail.password"]`.
   * Secrets are removed from messages of errors, never from data.
   */
  readonly secrets?: readonly string[] | undefined;
  /** Workflows that commands know by their ids, in addition to workflows in files. Those of `defineDurable` bring their node types. */
  readonly workflows?: readonly (WorkflowDefinition | TypedWorkflow)[] | undefined;
  /** Limits that differ from the default ones, such as `{ steps: 1_000 }`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Schedules by name. When a worker begins, it creates each of them, or changes the existing schedule to match. */
  readonly schedules?: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>> | undefined;
  /** The queue that tells workers which executions are due, or a function that opens one. It is closed when the command ends. */
  readonly queue?: WorkQueue | (() => WorkQueue | Promise<WorkQueue>) | undefined;
  /** The feed that tells all processes at once what has happened, or a function that opens one. It is closed when the command ends. */
  readonly feed?: EventFeed | (() => EventFeed | Promise<EventFeed>) | undefined;
}

/** A workflow that brings its node types, as `defineDurable` makes it. */
type TypedWorkflow = Pick<Typed, "id" | "definition" | "nodes">;

/** A config that was loaded: the node types that came with workflows are among its `nodeDefinitions`. */
export interface LoadedConfig extends Omit<StepfoldConfig, "workflows"> {
  readonly workflows?: readonly WorkflowDefinition[] | undefined;
}

/** Makes `globals` required if the node definitions need globals. */
type GlobalsAsked<D extends NodeDefinitions> =
  Record<never, never> extends GlobalsOf<D> ? unknown : { readonly globals: NonNullable<StepfoldConfig<D>["globals"]> };

/**
 * The default export of `stepfold.config.ts`, with types.
 *
 * ```ts
 * import { defineConfig } from "@stepfold/cli";
 * import { httpNode } from "stepfold/nodes/http";
 *
 * export default defineConfig({
 *   nodeDefinitions: { http: httpNode({ allowHosts: ["localhost"] }) },
 *   globals: { apiToken: process.env.API_TOKEN },
 * });
 * ```
 */
export function defineConfig<const D extends NodeDefinitions>(config: StepfoldConfig<D> & GlobalsAsked<D>): StepfoldConfig<D> {
  return config;
}
