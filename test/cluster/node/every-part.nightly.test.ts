import { everyPartSuite } from './parts/every-part-suite.ts';

everyPartSuite(Number(process.env['PLIMSOLL_PARTS_MINUTES'] ?? '30'));
