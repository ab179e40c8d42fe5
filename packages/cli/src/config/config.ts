import type { GlobalsOf, Limits, NodeDefinitions, WorkflowDefinition } from "stepfold";
import type { CreateScheduleOptions, EventFeed, ScheduleSpec, WorkQueue } from "stepfold/runtime";

/** What a function that opens globals is told. */
export interface GlobalsContext {
  /** Absolute path of the folder of the database: a place for data that should live as long as the executions. */
  readonly dataFolder: string;
}

/** Globals that were opened for one command. */
export interface OpenGlobals<G = unknown> {
  readonly globals: G;
  /** Called when the command ends and no step runs any more. */
  readonly close?: (() => unknown) | undefined;
}

/** What `stepfold.config.ts` may say. */
export interface StepfoldConfig<D extends NodeDefinitions = NodeDefinitions> {
  /** Your node types, by name. The built-in ones and `http` are there anyway; one of the same name replaces them. */
  readonly nodeDefinitions?: D | undefined;
  /** Secrets and services for your nodes and for `{{ globals.… }}`: a value, or a function that opens them. Never stored. */
  readonly globals?:
    | GlobalsOf<D>
    | ((context: GlobalsContext) => OpenGlobals<GlobalsOf<D>> | Promise<OpenGlobals<GlobalsOf<D>>>)
    | undefined;
  /** Workflows that `stepfold run` knows by their ids, beside those in files. */
  readonly workflows?: readonly WorkflowDefinition[] | undefined;
  /** Other limits than the usual ones, such as `{ steps: 1_000 }`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Schedules by name: a worker makes each of them when it begins, or edits it so that it says this. */
  readonly schedules?: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>> | undefined;
  /** What tells workers that something is due, or a function that opens it. It is closed when the worker ends. */
  readonly queue?: WorkQueue | (() => WorkQueue | Promise<WorkQueue>) | undefined;
  /** What tells all processes at once of what has happened, or a function that opens it. It is closed when the command ends. */
  readonly feed?: EventFeed | (() => EventFeed | Promise<EventFeed>) | undefined;
}

/** Globals are asked for where the node definitions need some. */
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
