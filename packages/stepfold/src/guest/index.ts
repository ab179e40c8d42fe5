export { createGuest, type Guest, type GuestOptions } from "./create-guest.ts";
export type { GuestEnd, GuestHost, GuestMessage, GuestPause, GuestResult, GuestStart, GuestStep } from "./host.ts";
