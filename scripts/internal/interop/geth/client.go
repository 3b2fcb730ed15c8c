package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

// dial calls orders_subscribe ["ticks"] at url, with numbers as further params. It prints three items, one per line, and unsubscribes.
func dial(url string, numbers []string) error {
	params := []any{"ticks"}
	for _, n := range numbers {
		params = append(params, json.Number(n))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	client, err := rpc.DialContext(ctx, url)
	if err != nil {
		return err
	}
	defer client.Close()
	items := make(chan json.RawMessage)
	sub, err := client.Subscribe(ctx, "orders", items, params...)
	if err != nil {
		return err
	}
	for range 3 {
		select {
		case item := <-items:
			fmt.Printf("%s\n", item)
		case err := <-sub.Err():
			return fmt.Errorf("the subscription ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	sub.Unsubscribe()
	return nil
}
