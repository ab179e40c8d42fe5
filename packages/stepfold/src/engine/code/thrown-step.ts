import type { ErrorInfo } from "../../core/errors/error-info.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import type { NodeResult } from "../../core/snapshot/snapshot.ts";

/** The deepest `cause` of an error that is looked at. */
const maxDepth = 8;

/**
 * Returns the error that code gets for a step that has failed for good. It is the same in every replay: it has the name, message, code and details of
 * what the step threw, and no stack, which would differ.
 *
 * @param nodeId the name of the step
 */
export function errorOfStep(nodeId: string, { output, error }: NodeResult): Error {
  const info = (output ?? {}) as unknown as Partial<ErrorInfo>;
  const { name = "Error", message = error!, code, details } = info;
  const thrown = new Error(message);
  return Object.defineProperties(thrown, {
    name: hidden(name),
    stack: hidden(`${name}: ${message}`),
    ...(code !== undefined && { code: { value: code, enumerable: true, configurable: true, writable: true } }),
    ...(details !== undefined && { details: { value: details, enumerable: true, configurable: true, writable: true } }),
    // by these marks, the failure of the code keeps the details, and the name of the step
    "~childFailure": hidden(info),
    "~step": hidden(nodeId),
  });
}

function hidden(value: unknown): PropertyDescriptor {
  return { value, enumerable: false, configurable: true, writable: true };
}

/** Returns the name of the step whose error code has thrown, or has wrapped in another one; undefined if the code has failed by itself. */
export function stepThrown(thrown: unknown, depth = 0): string | undefined {
  const step = safeMember(thrown, "~step");
  if (typeof step === "string") return step;
  if (depth === maxDepth || typeof thrown !== "object" || thrown === null) return undefined;
  const all = safeMember(thrown, "errors");
  const inside = [safeMember(thrown, "cause"), ...(Array.isArray(all) ? all.slice(-maxDepth).reverse() : [])];
  for (const one of inside) {
    const found = one === undefined ? undefined : stepThrown(one, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
