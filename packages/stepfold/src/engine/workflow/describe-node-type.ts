import type { RetryPolicy } from "../../core/definition/definition.ts";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { NodeDefinition } from "../node/node-definition.ts";
import type { StandardSchema } from "../node/standard-schema.ts";
import { payloadSchemaOf } from "./payload-schema.ts";

/**
 * What a form or an editor can know of a node type, as plain JSON. A schema that is absent says that any value is taken; null, that only the
 * code of the type can check it.
 */
export interface NodeTypeInfo {
  readonly type: string;
  /** Of the node's `data`, once its expressions are evaluated. */
  readonly input?: JsonSchema | null;
  readonly output?: JsonSchema | null;
  /** Of the payload that resumes it. */
  readonly resume?: JsonSchema | null;
  /** Names of the output handles; `""` is the default one. Absent: any. */
  readonly handles?: readonly string[];
  /** Where the node of a workflow says nothing. */
  readonly retryPolicy?: RetryPolicy;
  /** For people, as the type gives it: label, icon, description. */
  readonly metadata: Readonly<Record<string, Json>>;
}

/** What can be known of a node type. */
export function describeNodeType(type: string, definition: NodeDefinition, limits: Limits): NodeTypeInfo {
  const { input, output, resume, handles, retryPolicy, metadata = {} } = definition;
  const said = (schema: StandardSchema | JsonSchema): JsonSchema | null => payloadSchemaOf(schema, limits)?.schema ?? null;
  return {
    type,
    ...(input !== undefined && { input: said(input) }),
    ...(output !== undefined && { output: said(output) }),
    ...(resume !== undefined && { resume: said(resume) }),
    ...(handles && { handles: [...handles] }),
    ...(retryPolicy && { retryPolicy }),
    metadata,
  };
}
