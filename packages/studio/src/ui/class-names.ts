/** Joins the names of classes; what is not a text is left out: `classNames(styles.row, isChosen && styles.isChosen)`. */
export function classNames(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
