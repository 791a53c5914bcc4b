import { definitionPlay } from '../../behaviour/definition-play.js';
import { embeddedServer } from './embedded-server.fixture.js';

definitionPlay(embeddedServer());
