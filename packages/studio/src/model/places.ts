import type { MeView } from "stepfold/client";
import type { Explanation, PlaceInfo, WaitInfo } from "stepfold/core";

/** The most places that are told beside the first one. */
const maxOthers = 3;

/** The places of an execution, by who can move them. */
export interface LeadPlaces {
  /** The place that somebody can move, the caller before others; else the first one. Null: no place is open. */
  readonly lead: PlaceInfo | null;
  /** The next ones, at most three. */
  readonly others: readonly PlaceInfo[];
  /** How many more there are. */
  readonly more: number;
  /** What they are. */
  readonly moreNoun: "place" | "item";
}

/** Orders the places of an explanation. */
export function leadPlaces({ places, more }: Pick<Explanation, "places" | "more">, me: Pick<MeView, "id">): LeadPlaces {
  const isNamed = ({ waits }: PlaceInfo): boolean => waits.some((wait) => isFor(wait, me) && wait.responders !== undefined);
  const isOwn = ({ waits }: PlaceInfo): boolean => waits.some((wait) => isFor(wait, me));
  const lead = places.find(isNamed) ?? places.find(isOwn) ?? places.find(isMovable) ?? places[0] ?? null;
  const rest = places.filter((place) => place !== lead && !isInside(place, lead));
  const told = rest.filter(({ status }) => status !== "joining" && status !== "held");
  const others = told.slice(0, maxOthers);
  return {
    lead,
    others,
    more: rest.length - others.length + more,
    moreNoun: areItems(rest.filter((place) => !others.includes(place))) ? "item" : "place",
  };
}

/** True if each of these places is in an item of a map, and no item has two of them. */
function areItems(places: readonly PlaceInfo[]): boolean {
  const items = places.map(({ address }) => /^.*\]/s.exec(address)?.[0]);
  return items.length > 0 && items.every((item) => item !== undefined) && new Set(items).size === items.length;
}

/** True if a place is to be driven now, so that it matters who holds the execution. Nothing of a parked one is. */
export function isDue({ status }: Pick<PlaceInfo, "status">, execution: Pick<Explanation, "status">): boolean {
  return status === "ready" && execution.status !== "parked";
}

/** True if somebody outside can end a wait of the place. */
export function isMovable({ waits }: Pick<PlaceInfo, "waits">): boolean {
  return waits.some(({ answer }) => answer !== null);
}

/** True if the caller may answer a wait, and has not done so yet. */
export function isFor({ answer, responders, answered }: WaitInfo, { id }: Pick<MeView, "id">): boolean {
  return answer !== null && (responders === undefined || responders.includes(id)) && !answered?.includes(id);
}

/** Why the caller cannot answer a wait; null: they can. */
export function answerRefusal(wait: WaitInfo, me: Pick<MeView, "id">): string | null {
  const { responders, answered } = wait;
  if (answered?.includes(me.id)) return `${me.id} has answered already. One more answer must come from somebody else.`;
  if (responders && !responders.includes(me.id)) return `Only ${namesText(responders)} may answer.`;
  return null;
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => (name.length > 60 ? `${name.slice(0, 59)}…` : name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} others` : shown.join(" or ");
}

/** The node of the execution itself at which a place stands: `pack` for `pack[3]/ask`. */
export function rootNode(address: string): string {
  return address.split(/[[/]/, 1)[0] ?? address;
}

/** True if a place lies in the map or sub-workflow of another one. */
function isInside({ address }: PlaceInfo, other: PlaceInfo | null): boolean {
  return (
    other !== null && address !== other.address && (address.startsWith(`${other.address}/`) || address.startsWith(`${other.address}[`))
  );
}
