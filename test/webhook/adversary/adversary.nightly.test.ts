import { describe } from 'vitest';
import { ATTACKS } from './attacks.ts';
import { sandboxSurface } from './sandbox-surface.ts';
import { stage } from './stage.ts';

describe('a tenant with the edit role, in the sandbox', () => {
  const here = stage(sandboxSurface());
  for (const attack of ATTACKS) attack(here);
});
