import { Option } from 'commander';

/** kubectl's word for what is sent: everything, nothing, or what the API server checks but does not store. */
export type DryRunStrategy = 'none' | 'client' | 'server';

/** `--dry-run=none|client|server`. */
export function dryRunOption(): Option {
  return new Option('--dry-run <strategy>', 'client: only print what would change; server: check it there too')
    .choices(['none', 'client', 'server'] satisfies readonly DryRunStrategy[])
    .default('none');
}
