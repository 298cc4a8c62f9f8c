import { z } from 'zod';
import { agentConfiguration } from '#agent/configuration.ts';
import { schedulerSchema } from '#scheduler/configuration.ts';
import { type ConfigurationSchema, listSettings, type Setting } from '#shared/runtime/settings.ts';
import { webhookSchema } from '#webhook/configuration.ts';
import { code, markdownTable } from './markdown-table.ts';
import { allowedValues, type JsonSchema, schemaFields, type SchemaField } from './schema-fields.ts';

const INTRODUCTION = `# Configuration

Each process reads \`--config FILE\` (YAML, \`apiVersion: config.plimsoll.dev/v1alpha1\` and the kind below; SchedulerConfiguration for the controller and the extender), environment variables and flags. A flag overrides the environment, and the environment overrides the file. A process refuses to start with a setting that it does not know. Keys of a file are nested where the table has dots; a setting without a flag can be set by a file only.

Every process and the command line also read the variables \`PLIMSOLL_NAMESPACE\` and \`PLIMSOLL_AGENT_NAMESPACE\`, where Plimsoll is installed elsewhere than in \`plimsoll-system\` and \`plimsoll-node\`.

A variable that a Service in the namespace could set (\`PLIMSOLL_HEALTH_PORT\`) has two underscores before its last word; the plain name is refused, unless a Service set it.

This page is generated from the code (\`npm run generate\`).
`;

/** Kind of the configuration file and schema of each process. */
export const CONFIGURATIONS: Readonly<Record<string, ConfigurationSchema>> = {
  WebhookConfiguration: webhookSchema,
  AgentConfiguration: agentConfiguration,
  SchedulerConfiguration: schedulerSchema,
};

const ENV_PREFIX = 'PLIMSOLL';
const HEADER = ['key', 'flag, variable', 'default; values', 'description'];

/** The reference page of all settings, in Markdown. */
export function describeConfiguration(): string {
  const processes = Object.entries(CONFIGURATIONS).map(([kind, schema]) => ({ kind, rows: rowsOf(schema) }));
  const [first, ...others] = processes.map(({ rows }) => rows);
  const common = (first ?? []).filter((each) => others.every((rows) => rows.some((other) => isSame(each, other))));
  const own = processes.map(({ kind, rows }) => ({
    kind,
    rows: rows.filter((each) => !common.some((other) => isSame(each, other))),
  }));
  const tables = [{ kind: 'Every process', rows: common }, ...own];
  return [INTRODUCTION, ...tables.map(({ kind, rows }) => `## ${kind}\n\n${markdownTable(HEADER, rows)}`)].join('\n');
}

type Row = readonly string[];

/** Whether two processes have the same setting, however they describe it. */
function isSame(one: Row, other: Row): boolean {
  return one.slice(0, -1).join('|') === other.slice(0, -1).join('|');
}

function rowsOf(schema: ConfigurationSchema): readonly Row[] {
  const settings = new Map(listSettings(schema, ENV_PREFIX).map((setting) => [setting.path.join('.'), setting]));
  const fields = schemaFields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  const leaves = fields.filter(({ schema: own, path }) => own.properties === undefined && !path.includes('[]'));
  return leaves.map((field) => row(field, settings.get(field.path)));
}

function row({ path, schema, type }: SchemaField, setting: Setting | undefined): Row {
  const standard = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
  const values = allowedValues(schema);
  return [
    code(path),
    [setting?.flag ?? '', setting?.variable ?? ''].filter(Boolean).map(code).join('<br>'),
    [standard, values === '' ? type : values].filter(Boolean).join('; '),
    schema.description ?? setting?.description ?? '',
  ];
}
