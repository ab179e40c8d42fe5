import type { RetryPolicy } from "../../core/definition/definition.ts";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { NodeDefinition } from "../node/node-definition.ts";
import type { Schema } from "../node/standard-schema.ts";
import { payloadSchemaOf } from "./payload-schema.ts";

/**
 * The description of a node type for forms and editors, as plain JSON. If a schema is absent, any value is accepted; if it is null, only
 * the code of the type can check a value.
 */
export interface NodeTypeInfo {
  readonly type: string;
  /** The schema of the node's `data`, after its expressions are evaluated. */
  readonly input?: JsonSchema | null;
  /** The schema of the output. */
  readonly output?: JsonSchema | null;
  /** The schema of the payload that resumes the node. */
  readonly resume?: JsonSchema | null;
  /** Names of the output handles; `""` is the default handle. Absent: any handle. */
  readonly handles?: readonly string[];
  /** The retry policy of nodes that have none of their own. */
  readonly retryPolicy?: RetryPolicy;
  /** The `metadata` of the node type, for people: label, icon, description. */
  readonly metadata: Readonly<Record<string, Json>>;
}

/** Describes a node type. */
export function describeNodeType(type: string, definition: NodeDefinition, limits: Limits): NodeTypeInfo {
  const { input, output, resume, handles, retryPolicy, metadata = {} } = definition;
  const said = (schema: Schema): JsonSchema | null => payloadSchemaOf(schema, limits)?.schema ?? null;
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
