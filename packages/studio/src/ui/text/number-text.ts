/** A whole number with commas between thousands: `10,412`. */
export function countText(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** A number with its noun: `1 item`, `10,412 items`. The plural has an `s` unless it is given. */
export function nounText(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}

/** A size in bytes: `812 B`, `64 KiB`, `1.2 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
