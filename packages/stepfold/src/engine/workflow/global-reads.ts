import type { CompiledPolicy, Computed } from "../../core/definition/compiled-policy.ts";
import type { Template } from "../../core/definition/template.ts";
import type { PreparedNode } from "./prepared-node.ts";

/** A member of `globals` that an expression of the node names and may not read; undefined if there is none. */
export function deniedGlobal(node: PreparedNode, allowed: readonly string[]): string | undefined {
  for (const { reads } of templatesOf(node)) {
    for (const [root, name] of reads) {
      // what is read as a whole, or by a name that is computed, has only what is allowed
      if (root === "globals" && name !== undefined && name !== "*" && !allowed.includes(name)) return name;
    }
  }
  return undefined;
}

function templatesOf({ compiled: { data, heartbeatMs }, policy, timeoutMs }: PreparedNode): Template[] {
  const parts: (Computed | Template | null | undefined)[] = [data, timeoutMs, heartbeatMs, ...(policy ? partsOf(policy) : [])];
  return parts.filter((part): part is Template => typeof part === "object" && part !== null);
}

function partsOf({ maxAttempts, intervalMs, maxIntervalMs, retryIf }: CompiledPolicy): (Computed | Template | null)[] {
  return [maxAttempts, intervalMs, maxIntervalMs, retryIf];
}
