import { groupOf, itemOf, parentKey, scopedKey } from "../../core/snapshot/address.ts";
import type { Event } from "../../core/snapshot/event.ts";

/** A step, as its task or its event names it. */
interface NamedStep {
  readonly scope?: string | undefined;
  readonly pathId: string;
  readonly nodeId: string;
}

/** The addresses of the steps of one execution, also of those in children that have ended. */
export class AddressBook {
  /** The node that has begun a group of children, by the key of the group. */
  readonly #owners = new Map<string, string>();
  readonly #code = new Set<string>();

  /** Notes a step that may begin children. */
  note({ scope = "", pathId, nodeId }: NamedStep, visit: number): void {
    this.#owners.set(scopedKey(scope, `${pathId}#${visit}`), nodeId);
  }

  /** Notes the path of code, which is no step itself. */
  noteCode({ scope = "", pathId }: NamedStep): void {
    this.#code.add(scopedKey(scope, pathId));
  }

  isCode({ scope = "", pathId }: NamedStep): boolean {
    return this.#code.has(scopedKey(scope, pathId));
  }

  /** Returns the address of a step, such as `approve` or `pack[3]/weigh`. */
  of({ scope = "", nodeId }: NamedStep): string {
    let address = nodeId;
    for (let key = scope; key !== ""; key = parentKey(key)) {
      const item = itemOf(key);
      const owner = this.#owners.get(scopedKey(parentKey(key), groupOf(key))) ?? "?";
      address = `${owner}${item === null ? "" : `[${item}]`}/${address}`;
    }
    return address;
  }
}

/** Returns the addresses of the steps of a history. */
export function addressesIn(events: readonly Event[]): AddressBook {
  const addresses = new AddressBook();
  for (const event of events) if (event.type === "spawned") addresses.note(event, event.visit);
  return addresses;
}
