// Command ovsdb is a client of the Open vSwitch database protocol that uses libovsdb. Its argument is the server's address,
// host:port. It monitors a table, inserts a row and prints the rows in its cache.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/ovn-kubernetes/libovsdb/cache"
	"github.com/ovn-kubernetes/libovsdb/client"
	"github.com/ovn-kubernetes/libovsdb/model"
)

type item struct {
	UUID string `ovsdb:"_uuid"`
	Name string `ovsdb:"name"`
	N    int    `ovsdb:"n"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func run(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	m, err := model.NewClientDBModel("Orders", map[string]model.Model{"Item": &item{}})
	if err != nil {
		return err
	}
	nothing := logr.Discard()
	c, err := client.NewOVSDBClient(m, client.WithEndpoint("tcp:"+address), client.WithLogger(&nothing))
	if err != nil {
		return err
	}
	if err := c.Connect(ctx); err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("schema", c.Schema().Name, c.Schema().Version)
	changes := make(chan string, 10)
	c.Cache().AddEventHandler(&cache.EventHandlerFuncs{
		AddFunc:    func(_ string, m model.Model) { changes <- fmt.Sprint("added ", m.(*item).Name, " ", m.(*item).N) },
		DeleteFunc: func(_ string, m model.Model) { changes <- fmt.Sprint("deleted ", m.(*item).Name) },
	})
	cookie, err := c.MonitorAll(ctx)
	if err != nil {
		return err
	}
	fmt.Println(<-changes)
	fmt.Println("echo", c.Echo(ctx))
	ops, err := c.Create(&item{Name: "nut", N: 4})
	if err != nil {
		return err
	}
	results, err := c.Transact(ctx, ops...)
	fmt.Println("insertions", len(results), err)
	fmt.Println(<-changes)
	if ops, err = c.Where(&item{UUID: results[0].UUID.GoUUID}).Delete(); err != nil {
		return err
	}
	results, err = c.Transact(ctx, ops...)
	fmt.Println("deletions", results[0].Count, err)
	fmt.Println(<-changes)
	fmt.Println("cancelled", c.MonitorCancel(ctx, cookie))
	return nil
}
