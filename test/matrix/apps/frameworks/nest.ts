import 'reflect-metadata'
import { Controller, Get, Logger as NestLogger, Module, Param } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Logger, LoggerErrorInterceptor, LoggerModule } from 'nestjs-pino'
import { charge, declined, jane, port, withIngest } from './shop.mjs'

@Controller('orders')
class OrdersController {
  private readonly logger = new NestLogger(OrdersController.name)

  @Get('13')
  fail(): void {
    charge()
  }

  @Get(':id')
  read(@Param('id') id: string): { id: string } {
    this.logger.log({ user: jane }, 'order read')
    return { id }
  }
}

@Module({
  imports: [
    LoggerModule.forRoot({
      pinoHttp: withIngest({
        genReqId: (request: { headers: Record<string, string> }) => request.headers['x-request-id'],
      }),
    }),
  ],
  controllers: [OrdersController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { bufferLogs: true })
app.useLogger(app.get(Logger))
app.useGlobalInterceptors(new LoggerErrorInterceptor())
await app.listen(port, '127.0.0.1')

const logger = new NestLogger('Shop')
logger.log({ orders: 3 }, 'shop is open')
logger.warn('stock is low')
logger.error({ err: declined() }, 'payment failed')
