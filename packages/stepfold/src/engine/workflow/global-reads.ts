import type { CompiledPolicy, Computed } from "../../core/definition/compiled-policy.ts";
import type { Template } from "../../core/definition/template.ts";
import type { PreparedNode } from "./prepared-node.ts";

/** Returns a member of `globals` that an expression of the node names and may not read; undefined if there is none. */
export function deniedGlobal(node: PreparedNode, allowed: readonly string[]): string | undefined {
  for (const { reads } of templatesOf(node)) {
    for (const [root, name] of reads) {
      // an expression that reads `globals` as a whole, or by a computed name, gets only the allowed members, so it need not be denied
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
