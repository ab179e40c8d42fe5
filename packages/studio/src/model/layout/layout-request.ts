/** The width of a card. */
export const cardWidth = 216;
/** The height of a card that shows nothing but its head and its state. */
export const plainHeight = 78;
/** Where edges enter a card, and leave it by the default handle, below its upper edge. */
export const headMiddle = 25;
/** The distance between two cards of a column. */
export const rowGap = 40;

/** The graph to lay out. Ids are those of the definition; edges without both ends are left out. */
export interface LayoutRequest {
  readonly nodes: readonly { readonly id: string; readonly height: number }[];
  /** `port`: where the edge leaves its source, below the upper edge of the card. */
  readonly edges: readonly { readonly source: string; readonly target: string; readonly port: number }[];
}

/** A point of the graph. */
export interface Point {
  readonly x: number;
  readonly y: number;
}
