import { Option } from 'commander';

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** `-o table|json|yaml`. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table');
}

/** A value as a JSON or YAML document. */
export async function formatDocument(value: unknown, format: Exclude<OutputFormat, 'table'>): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  // Loaded only where it is needed: it takes a tenth of the start.
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
