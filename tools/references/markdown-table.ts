/** A Markdown table; cells may contain any text. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return `${lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Code in a cell; an empty text stays empty. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}
