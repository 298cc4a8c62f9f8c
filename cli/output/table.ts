import type { ReasonGroup } from '#shared/domain/preemption/explain/explain-higher-victim.ts';

const GAP = '   ';

/** Rows of text as kubectl aligns them: every column but the last as wide as its widest cell. */
export function formatTable(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  const lines = [...(header === undefined ? [] : [header]), ...rows].map((cells) => cells.map(printable));
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return lines.map((cells) => formatLine(cells, widths)).join('');
}

/** A table, or nothing if it would have no rows. */
export function formatSection(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : formatTable(header, rows);
}

/** Parts of an answer with empty lines between them; empty parts are left out. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

function formatLine(cells: readonly string[], widths: readonly number[]): string {
  const last = cells.length - 1;
  return `${cells.map((cell, column) => (column === last ? cell : cell.padEnd(widths[column] ?? 0))).join(GAP)}\n`;
}

/** One line of text. */
export function printLine(text: string): string {
  return `${printable(text)}\n`;
}

type FieldValue = string | number | readonly string[] | undefined;

/** One line per field, as `kubectl describe` prints it; without those that are undefined. */
export function formatFields(fields: readonly (readonly [label: string, value: FieldValue])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 2;
  const lines = fields.map(([label, value]) =>
    value === undefined ? '' : printLine(`${label}:`.padEnd(width) + fieldText(value)),
  );
  return lines.join('');
}

function fieldText(value: NonNullable<FieldValue>): string {
  const text = typeof value === 'object' ? value.join('; ') : String(value);
  return text === '' ? '<none>' : text;
}

/** Text from a manifest must not control the terminal: control characters are escaped. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

/** The nodes on which a pod is not placed, and why; empty if there are none. */
export function reasonTable(groups: readonly ReasonGroup[]): string {
  return formatSection(['NODES', 'WHY NOT'], groups.map(reasonCells));
}

function reasonCells({ count, nodes, reason }: ReasonGroup): readonly string[] {
  const more = count > nodes.length ? ` and ${count - nodes.length} more` : '';
  return [`${nodes.join(',')}${more}`, reason];
}
