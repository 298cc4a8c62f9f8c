import { z } from 'zod';
import { agentConfiguration } from '#agent/configuration.ts';
import { schedulerSchema } from '#scheduler/configuration.ts';
import { type ConfigurationSchema, listSettings, type Setting } from '#shared/runtime/settings.ts';
import { webhookSchema } from '#webhook/configuration.ts';
import { code, markdownTable } from './markdown-table.ts';
import { allowedValues, type JsonSchema, schemaFields, type SchemaField } from './schema-fields.ts';

const INTRODUCTION = `# Configuration

Each process reads \`--config FILE\` (YAML, \`apiVersion: config.plimsoll.dev/v1alpha1\` and the kind below), environment variables and flags. A flag overrides the environment, and the environment overrides the file. A process refuses to start with a setting that it does not know. Keys of a file are nested where the table has dots; a setting without a flag can be set by a file only.

Every process and the command line also read the variables \`PLIMSOLL_NAMESPACE\` and \`PLIMSOLL_AGENT_NAMESPACE\`, where Plimsoll is installed elsewhere than in \`plimsoll-system\` and \`plimsoll-node\`.

A variable that a Service in the namespace could set, such as \`PLIMSOLL_HEALTH_PORT\` by a Service \`plimsoll-health\`, is not read: its name has two underscores before the last word here. A process refuses to start with the plain name, unless a Service set it.

This page is generated from the code (\`npm run generate\`).
`;

/** Kind of the configuration file and schema of each process. */
export const CONFIGURATIONS: Readonly<Record<string, ConfigurationSchema>> = {
  WebhookConfiguration: webhookSchema,
  AgentConfiguration: agentConfiguration,
  SchedulerConfiguration: schedulerSchema,
};

const ENV_PREFIX = 'PLIMSOLL';
const HEADER = ['key', 'flag', 'variable', 'default', 'values', 'description'];

/** The reference page of all settings, in Markdown. */
export function describeConfiguration(): string {
  return [INTRODUCTION, ...Object.entries(CONFIGURATIONS).map(describeProcess)].join('\n');
}

function describeProcess([kind, schema]: readonly [string, ConfigurationSchema]): string {
  const settings = new Map(listSettings(schema, ENV_PREFIX).map((setting) => [setting.path.join('.'), setting]));
  const fields = schemaFields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  const leaves = fields.filter(({ schema: own, path }) => own.properties === undefined && !path.includes('[]'));
  return `## ${kind}\n\n${markdownTable(
    HEADER,
    leaves.map((field) => row(field, settings.get(field.path))),
  )}`;
}

function row({ path, schema, type }: SchemaField, setting: Setting | undefined): readonly string[] {
  const standard = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
  const values = allowedValues(schema);
  return [
    code(path),
    code(setting?.flag ?? ''),
    code(setting?.variable ?? ''),
    standard,
    values === '' ? type : values,
    schema.description ?? setting?.description ?? '',
  ];
}
